"""How a query calls what rows may call: each function of the library's table, as dpquantile.how_total() tells of it, as an operator or a cast
if it is one. A new function is there by itself."""

from __future__ import annotations

from itertools import combinations
from typing import Dict, Iterator, Sequence

# Some arguments must not depend on rows: units, zones, formats.
PUBLIC_TEXTS = ("day", "UTC", "999")
MOST_PUBLIC_ARGUMENTS = 2

# A name, the call with # for each argument, and the types of its result and its arguments
CALLS = """
SELECT p.oid::regprocedure::text,
       coalesce((SELECT CASE WHEN oprleft = 0 THEN format('OPERATOR(pg_catalog.%s) #', oprname) ELSE format('# OPERATOR(pg_catalog.%s) #', oprname) END
                   FROM pg_operator WHERE oprcode = p.oid AND oprname !~ '#' ORDER BY oid LIMIT 1),
                (SELECT format('CAST(# AS %s)', casttarget::regtype)
                   FROM pg_cast WHERE castfunc = p.oid AND castsource = p.proargtypes[0] AND castsource <> casttarget AND p.pronargs = 1 LIMIT 1),
                format('pg_catalog.%I(%s)', p.proname, (SELECT string_agg(CASE WHEN p.provariadic <> 0 AND number = p.pronargs THEN 'VARIADIC #' ELSE '#' END, ', ' ORDER BY number)
                                                              FROM unnest(p.proargtypes) WITH ORDINALITY u (type, number)))),
       (SELECT typname FROM pg_type WHERE oid = p.prorettype),
       (SELECT string_agg(replace(typname, '_text', 'text[]'), ' ' ORDER BY number) FROM unnest(p.proargtypes) WITH ORDINALITY u (type, number) JOIN pg_type t ON t.oid = type)
  FROM pg_proc p WHERE dpquantile.how_total(p.oid) IN ('as it is', 'variant')
UNION ALL
SELECT format('cast from text to %s', typname), format('CAST(# AS pg_catalog.%I)', typname), typname, 'text'
  FROM pg_type WHERE typtype = 'b' AND dpquantile.how_total(typinput) = 'from text'
UNION ALL
SELECT format('cast from %s to text', typname), 'CAST(# AS text)', 'text', typname
  FROM pg_type WHERE typtype IN ('b', 'e') AND dpquantile.how_total(typoutput) = 'to text'
ORDER BY 1"""


def public_choices(texts: Sequence[int]) -> Iterator[Dict[int, str]]:
    """Constants in the place of arguments: of none of these, then of more and more."""
    for number in range(MOST_PUBLIC_ARGUMENTS + 1):
        for public in combinations(texts, number):
            for text in PUBLIC_TEXTS if public else ("",):
                yield {i: text for i in public}
