"""BioC XML: offsets across passages, and the entities that are left out."""

import gzip

from corpus_files import put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import bioc
from mlm_vs_clm.documents import Entity

DTDS = ("SYSTEM 'BioC.dtd'", f"[<!ENTITY a '{SECRET}'><!ENTITY b '&a;&a;'>]")


def annotation(kind, text, *locations):
    spans = "".join(f'<location offset="{start}" length="{length}"/>' for start, length in locations)
    return f'<annotation><infon key="type">{kind}</infon>{spans}<text>{text}</text></annotation>'


def write_bioc(tmp_path, annotations, abstract="It cures fever.", name="a.xml"):
    """Write one document "Aspirin." + gap + abstract, at the offset 9."""
    path = tmp_path / name
    content = (
        f"<collection><document><id>7</id><passage><offset>0</offset><text>Aspirin.</text></passage>"
        f"<passage><offset>9</offset><text>{abstract}</text>{annotations}</passage></document></collection>"
    ).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def test_bioc_offsets_hold_across_passages(tmp_path):
    entities = annotation("Disease", "fever", (18, 5)) + annotation("Chemical", "Aspirin", (0, 7))
    result = bioc.read(write_bioc(tmp_path, entities, name="a.xml.gz"))
    (document,) = result.documents
    assert document.text == "Aspirin. It cures fever." and document.id == "7"
    assert document.entities == (Entity(0, 7, "Chemical"), Entity(18, 23, "Disease"))
    assert result.dropped == []


def test_bioc_counts_the_entities_it_leaves_out(tmp_path):
    fever = annotation("Disease", "fever", (18, 5))
    entities = fever + fever + annotation("Disease", "It fever", (9, 2), (18, 5))
    result = bioc.read(write_bioc(tmp_path, entities + annotation("Disease", "fever", (17, 5))))
    assert result.documents[0].entities == (Entity(18, 23, "Disease"),)
    assert [row["reason"] for row in result.dropped] == [
        "repeated entity",
        "discontinuous entity",
        "entity text differs from the text at its offsets",
    ]


def test_bioc_offsets_outside_the_text_name_file_and_document_alone(tmp_path):
    path = write_bioc(tmp_path, annotation("Disease", SECRET, (18, 50)), abstract=f"{SECRET}.")
    assert_refused("a.xml, document 7: entity offsets 18-68", bioc.read, path)


def test_a_dtd_inside_the_file_is_refused_and_one_that_is_named_is_not_read(tmp_path):
    plain = write_bioc(tmp_path, "").read_text()
    named, inside = (
        put(tmp_path, f"{n}.xml", f"<!DOCTYPE collection {dtd}>{plain}") for n, dtd in enumerate(DTDS)
    )
    assert bioc.read(named).documents[0].id == "7"
    assert_refused("1.xml: XML with declarations of its own", bioc.read, inside)


def test_the_text_stands_in_passages_or_in_their_sentences(tmp_path):
    def sentence(offset, text, inside=""):
        return f"<sentence><offset>{offset}</offset><text>{text}</text>{inside}</sentence>"

    drug = annotation("Chemical", "Aspirin", (0, 7)) + annotation("Disease", "fever", (25, 5))
    passages = (
        f"<passage><offset>0</offset>{sentence(0, 'Aspirin helps.', drug)}{sentence(16, 'It cures fever.')}</passage>"
        f"<passage><offset>32</offset><text>The end.</text></passage>"
    )
    path = put(
        tmp_path, "s.xml", f"<collection><document><id>7</id>{passages}</document></collection>".encode()
    )
    (document,) = bioc.read(path).documents
    assert document.text == "Aspirin helps.  It cures fever. The end."
    assert document.entities == (Entity(0, 7, "Chemical"), Entity(25, 30, "Disease"))
