"""Movie plots: labels, markup and empty plots."""

from mlm_vs_clm.corpora.readers import movies


def test_movies_labels_residue_and_empty_plots(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(
        "\ufeffID,Title,Category,Plot\r\n"
        '1,A,"""Drama"",  ""Action/Adventure""","{{plot}} Ann , a spy ([[Kim  , hides&mdash;\n ""there"" ."\r\n'
        '2,B,"""Drama""","He left.{{cite web|date"\r\n'
        '3,C,"""Drama""","  "\r\n',
        encoding="utf-8",
    )
    result = movies.read(path)
    (document,) = result.documents
    assert document.text == 'Ann, a spy (Kim, hides— "there".'
    assert document.labels == ("Drama", "Action/Adventure")
    dropped = {row["id"]: row["reason"] for row in result.dropped}
    assert dropped == {"2": "wiki markup in the plot", "3": "empty document"}
    assert movies.clean(document.text) == document.text
