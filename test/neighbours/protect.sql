-- Private access for the analyst, as the owner of the tables gives it
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
-- The notice of small answers is made of noisy answers, which are others in the two databases.
ALTER ROLE analyst SET dpquantile.note_errors = off;
SELECT dp_restrict_role('analyst'), dp_protect_table('staff'), dp_protect_table('visits', 'patient'), dp_protect_table('stays', 'patient', 3, 'patient'),
       dp_protect_table('patients', 'patient', 1, 'patient'), dp_protect_table('events'),
       dp_protect_table('roster'), dp_protect_table('calls'), dp_protect_table('beds', 'patient', 1, 'guest'),
       dp_protect_table('doses', 'patient', 2, 'guest'), dp_protect_table('meals', 'patient', 3, 'guest'), dp_protect_table('trips', 'patient', 40, 'guest', max_groups => 2),
       dp_protect_table('high_beds', 'patient', 1, 'guest'), dp_protect_table('known_meals', 'patient', 3, 'guest'),
       dp_protect_table('most_doses', 'patient', 2, 'guest'), dp_protect_table('fed_beds', 'patient', 1, 'guest'),
       dp_protect_table('ranked_trips', 'patient', 40, 'guest'), dp_protect_table('placed_meals', 'patient', 3, 'guest'),
       dp_protect_table('notes', 'patient', 3, 'reader'), dp_protect_table('slips', 'patient', 3, 'reader'), dp_protect_table('bills', 'patient', 3, 'payer'),
       dp_protect_table('clients', 'patient', 1, 'client'), dp_protect_table('orders', 'patient', 2, 'client'), dp_protect_table('lines', 'order_id', 4, 'client', 'orders'),
       dp_protect_table('parts', 'line', 6, 'client', 'lines'), dp_protect_table('invoices', 'patient', 2, 'client'), dp_protect_table('busy_clients', 'patient', 1, 'client'),
       dp_protect_table('passes', 'patient', 2, 'client'), dp_protect_table('tips', 'order_id', 3, 'client', 'orders'), dp_protect_table('receipts', 'order_id', 1, 'client', 'orders'), dp_protect_table('rooms', 'holder', 2, 'client'), dp_protect_table('chats', 'room_id', 3, 'client', 'rooms'),
       dp_protect_table('own_orders', 'patient', 2, 'client'), dp_protect_table('ordered_lines', 'patient', 2, 'client'), dp_protect_table('line_sums', 'patient', 2, 'client') \g (format=unaligned tuples_only=on) /dev/null
SELECT dp_grant_private_access(name::regclass, 'analyst') FROM unnest('{staff,visits,stays,patients,events,roster}'::text[]) AS name
\g (format=unaligned tuples_only=on) /dev/null
-- Plain SQL is answered over the small tables, and the levels have a list.
SELECT dp_grant_private_access(name::regclass, 'analyst', epsilon => 0.5, delta => 1e-9)
  FROM unnest('{calls,beds,doses,meals,trips,high_beds,known_meals,most_doses,fed_beds,ranked_trips,placed_meals,notes,slips,bills,clients,orders,lines,parts,invoices,tips,chats,passes,busy_clients,own_orders,ordered_lines,line_sums}'::text[]) AS name
\g (format=unaligned tuples_only=on) /dev/null
SELECT dp_set_domain(name::regclass, 'level', 1, 4, 1)
  FROM unnest('{calls,beds,doses,meals,trips,known_meals,most_doses,fed_beds,ranked_trips,placed_meals,notes,slips,bills,clients,orders,lines,parts,invoices,tips,chats,ordered_lines,line_sums}'::text[]) AS name
\g (format=unaligned tuples_only=on) /dev/null
-- Lists with NULL, and with a key that stands for others
SELECT dp_set_domain(name::regclass, 'level', '{1,2,3,NULL}'::int[]) FROM unnest('{calls,beds,trips,orders,clients,known_meals}'::text[]) AS name
\g (format=unaligned tuples_only=on) /dev/null
SELECT dp_set_other_key(name::regclass, 'level', 2) FROM unnest('{beds,trips,orders}'::text[]) AS name
\g (format=unaligned tuples_only=on) /dev/null
-- What the analyst may read of them is public.
GRANT SELECT ON receipts, rooms TO analyst;
GRANT SELECT (id, city_id) ON passes TO analyst;
