-- Private access for the analyst, as the owner of the tables gives it
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
SELECT dp_restrict_role('analyst'), dp_protect_table('staff'), dp_protect_table('visits', 'patient'), dp_protect_table('stays', 'patient', 3, 'patient'),
       dp_protect_table('patients', 'patient', 1, 'patient'), dp_protect_table('events'),
       dp_protect_table('roster'), dp_protect_table('calls'), dp_protect_table('beds', 'patient', 1, 'guest'),
       dp_protect_table('doses', 'patient', 2, 'guest'), dp_protect_table('meals', 'patient', 3, 'guest'), dp_protect_table('trips', 'patient', 40, 'guest'),
       dp_protect_table('high_beds', 'patient', 1, 'guest'), dp_protect_table('known_meals', 'patient', 3, 'guest'),
       dp_protect_table('most_doses', 'patient', 2, 'guest'), dp_protect_table('fed_beds', 'patient', 1, 'guest'),
       dp_protect_table('ranked_trips', 'patient', 40, 'guest'), dp_protect_table('placed_meals', 'patient', 3, 'guest'),
       dp_protect_table('notes', 'patient', 3, 'reader'), dp_protect_table('slips', 'patient', 3, 'reader'), dp_protect_table('bills', 'patient', 3, 'payer') \g (format=unaligned tuples_only=on) /dev/null
SELECT dp_grant_private_access(name::regclass, 'analyst') FROM unnest('{staff,visits,stays,patients,events,roster,calls,beds,doses,meals,trips,high_beds,known_meals,most_doses,fed_beds,ranked_trips,placed_meals,notes,slips,bills}'::text[]) AS name
\g (format=unaligned tuples_only=on) /dev/null
