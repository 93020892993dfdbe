from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.records.benchmark import Query
from nclue_build.records.config import BuildConfig
from nclue_build.records.corpus import CorpusRow
from nclue_build.store.keys import explain_unknown_key

if TYPE_CHECKING:
    from pydantic import BaseModel


@pytest.mark.parametrize(
    ("model", "location", "message"),
    [
        (CorpusRow, ["docid"], "unknown key; did you mean 'doc_id'?"),
        (CorpusRow, ["colour"], "unknown key; known keys: archive_url, bytes, doc_id, "),
        (BuildConfig, ["schemas"], "unknown key; did you mean 'schema'?"),
        (BuildConfig, ["judge", "colour"], "unknown key; known keys: kind"),
        (Query, ["conditions", 1, "nam"], "unknown key; did you mean 'name'?"),
        (Query, ["forms", "colour"], "unknown key; known keys: clean_v2, natural, paraphrase, raw"),
    ],
)
def test_an_unknown_key_is_explained_where_it_stands(
    model: type[BaseModel], location: list[str | int], message: str
) -> None:
    assert explain_unknown_key(model, location).startswith(message)
