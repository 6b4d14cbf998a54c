"""Deleting entries together with their pending rows, as Redis 8.2 can.

No server that can was there to be tried. What the scripts send is tested by the words alone, and by running them
with XDELEX and XTRIM's DELREF made of older commands inside the script, as Redis's documentation describes them.
"""

from streamops.model.ids import EntryId
from streamops.wire.writes.delete import delete_words
from streamops.wire.writes.trim import Floor, How, floor_words, safe_words
from tests.support.wire.references import IDS, POSITIONS


def test_what_the_script_that_deletes_is_told() -> None:
    groups = (2, "billing", "4-0", "mail", "6-0")
    assert delete_words(IDS, POSITIONS, references=False) == ("", *groups, "2-0", "3-0", "9-0")
    assert delete_words(IDS, POSITIONS, references=True) == ("DELREF", *groups, "2-0", "3-0", "9-0")


def test_what_the_scripts_that_trim_are_told() -> None:
    floor = Floor(EntryId(5, 0), 7, POSITIONS)
    groups = ("billing", "4-0", "mail", "6-0")
    assert floor_words(floor, How(100, exact=True)) == ("5-0", 7, 100, "exact", "", *groups)
    assert floor_words(floor, How(100, exact=False, delref=True)) == (
        "5-0",
        7,
        100,
        "approximate",
        "DELREF",
        *groups,
    )
    acked = How(100, exact=True, acked=(False, True), delref=True)
    assert safe_words(1_000, acked) == ("maxlen", "1000", 100, "exact", "", "ACKED")
    assert safe_words(EntryId(5, 0), How(100, exact=False)) == ("minid", "5-0", 100, "approximate", "", "")
