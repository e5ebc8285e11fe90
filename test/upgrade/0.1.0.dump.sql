-- What pg_dump wrote of a database of version 0.1.0 (the commit "Restricted sessions, joint draws: comments and an internal
-- error") on PostgreSQL 15.20, after contents.sql. Without the commands \restrict and \unrestrict, which an older psql
-- does not know. 0.1.0.summary is what summary.sql printed in that database.
--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: dpquantile; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS dpquantile WITH SCHEMA public;


--
-- Name: EXTENSION dpquantile; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION dpquantile IS 'differentially private quantiles, CDFs, synthetic samples, interquartile ranges and user-level means, paid from a privacy budget';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: person; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.person (
    id integer,
    district text,
    age double precision
);


ALTER TABLE public.person OWNER TO postgres;

--
-- Name: age_median(double precision); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.age_median(epsilon double precision) RETURNS double precision
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    RETURN (SELECT public.dp_median(person.age, age_median.epsilon, (0)::double precision, (100)::double precision) AS dp_median FROM public.person);


ALTER FUNCTION public.age_median(epsilon double precision) OWNER TO postgres;

--
-- Name: release; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.release (
    name text NOT NULL,
    cdf public.dp_cdf NOT NULL,
    median double precision GENERATED ALWAYS AS (public.dp_cdf_quantile(cdf, (0.5)::double precision)) STORED,
    CONSTRAINT release_cdf_check CHECK ((public.dp_cdf_rows(cdf) > 0))
);


ALTER TABLE public.release OWNER TO postgres;

--
-- Name: spent; Type: VIEW; Schema: public; Owner: postgres
--

CREATE VIEW public.spent AS
 SELECT dp_budget.role,
    dp_budget.epsilon_spent
   FROM public.dp_budget;


ALTER TABLE public.spent OWNER TO postgres;

--
-- Data for Name: budget; Type: TABLE DATA; Schema: dpquantile; Owner: postgres
--

COPY dpquantile.budget (role, budget_id, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_limit, rho_spent, has_rho_alone, accountant, smallest_charge, charges, revoked) FROM stdin;
analyst	6c83dc67-c2ca-44f2-9905-3d8c86aed02a	3	3.00	0	0	\N	0.487022821014937534	f	pure	0.000003	3	f
"Second analyst"	4e30e0fe-4776-4fed-b5ec-00026c71bd24	7.5	3.5	0	0	\N	0.85721531841303085	f	pure	0.25	2	f
delta	d2486fe1-19bd-4d4e-9f45-2e10cb6d319a	4	1	0.00001	0.000001	\N	0	f	pure	0.000004	1	f
zcdp	781c5524-6ae6-4a04-bb12-8d992b81c274	5	0.5	0.000001	0	0.46306499013854746	0.04125000000000178	t	zcdp	0.00000046306499013854746	2	f
second	943779bf-86cb-47c5-8473-8657a0dca6a7	6	3	0	0	\N	0.62500000000003563	f	pure	0.000006	2	f
revoked	9f7f537a-23f6-4c7c-be85-a45d30ff8283	9	1	0	0	\N	0.12500000000000713	f	pure	0.000009	1	t
postgres	59498bc5-2495-4c8b-9ae7-e4fb69607126	100	1	0.000001	0	49.54576279939956	0.74893390408612362	t	zcdp	0.00004954576279939956	2	f
\.


--
-- Data for Name: budget_name; Type: TABLE DATA; Schema: dpquantile; Owner: postgres
--

COPY dpquantile.budget_name (budget_id, role_name, charges, epsilon, delta, rho, has_rho_alone, last_charged_at) FROM stdin;
4e30e0fe-4776-4fed-b5ec-00026c71bd24	Second analyst	0	0	0	0	f	\N
d2486fe1-19bd-4d4e-9f45-2e10cb6d319a	delta	0	0	0	0	f	\N
9f7f537a-23f6-4c7c-be85-a45d30ff8283	revoked	0	0	0	0	f	\N
943779bf-86cb-47c5-8473-8657a0dca6a7	first	0	0	0	0	f	\N
90aad49b-d909-4b70-a3b6-817a0debab89	leaver	0	0	0	0	f	\N
59498bc5-2495-4c8b-9ae7-e4fb69607126	postgres	0	0	0	0	f	\N
781c5524-6ae6-4a04-bb12-8d992b81c274	zcdp	1	0.5	0	0.03125000000000178	f	2026-11-22 12:06:16.593455+00
6c83dc67-c2ca-44f2-9905-3d8c86aed02a	analyst	1	1.5	0	0.28125000000001604	f	2026-11-22 12:06:16.583602+00
\.


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: dpquantile; Owner: postgres
--

COPY dpquantile.ledger (budget_id, number, charged_at, role_name, session_role_name, function, mechanism, neighbours, epsilon, delta, rho, accountant, grouping_sets, groups, query_hash) FROM stdin;
6c83dc67-c2ca-44f2-9905-3d8c86aed02a	2	2026-11-22 12:06:16.616055+00	analyst	analyst	dp_median	approximate	add or remove one row	1.25	0	0.19531250000001113	pure	1	1	\\x80e4589c1213fe7324ebd93580495073f02e30901c551fb7db092c589133c07d
6c83dc67-c2ca-44f2-9905-3d8c86aed02a	3	2026-11-22 12:06:16.616076+00	analyst	analyst	dp_cdf	tree	add or remove one row	0.25	0	0.010460321014910364	pure	1	1	\\x80e4589c1213fe7324ebd93580495073f02e30901c551fb7db092c589133c07d
4e30e0fe-4776-4fed-b5ec-00026c71bd24	1	2026-11-22 12:06:16.621954+00	Second analyst	Second analyst	dp_user_mean	array	values of one user, rows per user public	0.5	0	0.12245933120186155	pure	1	1	\\xe3b3ac9a757dc63bce6cf175f6f4d9ffa70cb6342dab49338491f69847aef9a9
4e30e0fe-4776-4fed-b5ec-00026c71bd24	2	2026-11-22 12:06:16.623233+00	Second analyst	Second analyst	dp_user_mean	array	values of one user, rows per user public	3.0	0	0.73475598721116930	pure	1	6	\\xe3b3ac9a757dc63bce6cf175f6f4d9ffa70cb6342dab49338491f69847aef9a9
d2486fe1-19bd-4d4e-9f45-2e10cb6d319a	1	2026-11-22 12:06:16.624425+00	delta	delta	dp_iqr	propose-test-release	add, remove or replace one row	1	0.000001	\N	pure	1	1	\\x8dcfad72db449e06a8a8ecd7f6224adf9423eb5affe49ccc6159330b101d814f
781c5524-6ae6-4a04-bb12-8d992b81c274	2	2026-11-22 12:06:16.626556+00	zcdp	zcdp	dp_quantiles	approximate	add or remove one row	\N	0	0.01	zcdp	1	1	\\xe926d2e482eeea48687652301c7cc63719c5c9d47e865b9bed9d33abfa6d6736
9f7f537a-23f6-4c7c-be85-a45d30ff8283	1	2026-11-22 12:06:16.631995+00	revoked	revoked	dp_median	approximate	add or remove one row	1	0	0.12500000000000713	pure	1	1	\\xbea28918a42f5ffa34607d7bcda69ec59d404ed1f19cfff0f2ae07ab99c19cdd
90aad49b-d909-4b70-a3b6-817a0debab89	1	2026-11-22 12:06:16.641484+00	leaver	leaver	dp_median	approximate	add or remove one row	2	0	0.5000000000000285	pure	1	1	\\x04d53ff106e930162e02008bfb09877b0e34d1eeb4c3cec1fd4c8e6d2d56eceb
943779bf-86cb-47c5-8473-8657a0dca6a7	1	2026-11-22 12:06:16.642823+00	first	first	dp_median	approximate	add or remove one row	1	0	0.12500000000000713	pure	1	1	\\xbea28918a42f5ffa34607d7bcda69ec59d404ed1f19cfff0f2ae07ab99c19cdd
943779bf-86cb-47c5-8473-8657a0dca6a7	2	2026-11-22 12:06:16.655305+00	second	second	dp_median	approximate	add or remove one row	2	0	0.5000000000000285	pure	1	1	\\x04d53ff106e930162e02008bfb09877b0e34d1eeb4c3cec1fd4c8e6d2d56eceb
59498bc5-2495-4c8b-9ae7-e4fb69607126	1	2026-11-22 12:06:16.676089+00	postgres	postgres	dp_cdf	tree	add or remove one row	1	0	0.24893390408612362	zcdp	1	1	\\x9b76f778329d8f5683438038246dd30ca0af735010966a8a74436a7e20e64d83
59498bc5-2495-4c8b-9ae7-e4fb69607126	2	2026-11-22 12:06:16.684192+00	postgres	postgres	dp_cdf	binary	add or remove one row	\N	0	0.5	zcdp	1	1	\\x2852add7ad363987c461e2a87aad6e18c9666aac5fafaeb167036cfb212909ce
\.


--
-- Data for Name: query_text; Type: TABLE DATA; Schema: dpquantile; Owner: postgres
--

COPY dpquantile.query_text (budget_id, query_hash, query) FROM stdin;
6c83dc67-c2ca-44f2-9905-3d8c86aed02a	\\x80e4589c1213fe7324ebd93580495073f02e30901c551fb7db092c589133c07d	SELECT dp_median(age, 1.25, 0, 100), dp_cdf(age, 0.25, 0, 100) FROM person 
4e30e0fe-4776-4fed-b5ec-00026c71bd24	\\xe3b3ac9a757dc63bce6cf175f6f4d9ffa70cb6342dab49338491f69847aef9a9	SELECT district, dp_user_mean(id, age, 0.5, 0, 100) FROM person GROUP BY district 
d2486fe1-19bd-4d4e-9f45-2e10cb6d319a	\\x8dcfad72db449e06a8a8ecd7f6224adf9423eb5affe49ccc6159330b101d814f	SELECT dp_iqr(age, 1, 1e-6) FROM person 
781c5524-6ae6-4a04-bb12-8d992b81c274	\\xe926d2e482eeea48687652301c7cc63719c5c9d47e865b9bed9d33abfa6d6736	SELECT dp_quantiles(age, '{0.1, 0.9}', NULL, 0, 100, dp_options(rho => 0.01)) FROM person 
9f7f537a-23f6-4c7c-be85-a45d30ff8283	\\xbea28918a42f5ffa34607d7bcda69ec59d404ed1f19cfff0f2ae07ab99c19cdd	SELECT dp_median(age, 1, 0, 100) FROM person 
90aad49b-d909-4b70-a3b6-817a0debab89	\\x04d53ff106e930162e02008bfb09877b0e34d1eeb4c3cec1fd4c8e6d2d56eceb	SELECT dp_median(age, 2, 0, 100) FROM person 
943779bf-86cb-47c5-8473-8657a0dca6a7	\\xbea28918a42f5ffa34607d7bcda69ec59d404ed1f19cfff0f2ae07ab99c19cdd	SELECT dp_median(age, 1, 0, 100) FROM person 
943779bf-86cb-47c5-8473-8657a0dca6a7	\\x04d53ff106e930162e02008bfb09877b0e34d1eeb4c3cec1fd4c8e6d2d56eceb	SELECT dp_median(age, 2, 0, 100) FROM person 
59498bc5-2495-4c8b-9ae7-e4fb69607126	\\x9b76f778329d8f5683438038246dd30ca0af735010966a8a74436a7e20e64d83	INSERT INTO release SELECT 'bins', dp_cdf(age, 1, -0.1, 1e3, dp_options(bins => 30)) FROM person;
59498bc5-2495-4c8b-9ae7-e4fb69607126	\\x2852add7ad363987c461e2a87aad6e18c9666aac5fafaeb167036cfb212909ce	INSERT INTO release\n  SELECT 'rho', dp_cdf(age, NULL, 0, 100, dp_options('binary', granularity => 5, rho => 0.5)) FROM person;
\.


--
-- Data for Name: person; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.person (id, district, age) FROM stdin;
1	1	1
2	2	2
3	3	3
4	4	4
5	5	5
6	6	6
7	0	7
8	1	8
9	2	9
10	3	10
11	4	11
12	5	12
13	6	13
14	0	14
15	1	15
16	2	16
17	3	17
18	4	18
19	5	19
20	6	20
21	0	21
22	1	22
23	2	23
24	3	24
25	4	25
26	5	26
27	6	27
28	0	28
29	1	29
30	2	30
31	3	31
32	4	32
33	5	33
34	6	34
35	0	35
36	1	36
37	2	37
38	3	38
39	4	39
40	5	40
41	6	41
42	0	42
43	1	43
44	2	44
45	3	45
46	4	46
47	5	47
48	6	48
49	0	49
0	1	50
1	2	51
2	3	52
3	4	53
4	5	54
5	6	55
6	0	56
7	1	57
8	2	58
9	3	59
10	4	60
11	5	61
12	6	62
13	0	63
14	1	64
15	2	65
16	3	66
17	4	67
18	5	68
19	6	69
20	0	70
21	1	71
22	2	72
23	3	73
24	4	74
25	5	75
26	6	76
27	0	77
28	1	78
29	2	79
30	3	80
31	4	81
32	5	82
33	6	83
34	0	84
35	1	85
36	2	86
37	3	87
38	4	88
39	5	89
40	6	90
41	0	91
42	1	92
43	2	93
44	3	94
45	4	95
46	5	96
47	6	97
48	0	98
49	1	99
0	2	100
1	3	0
2	4	1
3	5	2
4	6	3
5	0	4
6	1	5
7	2	6
8	3	7
9	4	8
10	5	9
11	6	10
12	0	11
13	1	12
14	2	13
15	3	14
16	4	15
17	5	16
18	6	17
19	0	18
20	1	19
21	2	20
22	3	21
23	4	22
24	5	23
25	6	24
26	0	25
27	1	26
28	2	27
29	3	28
30	4	29
31	5	30
32	6	31
33	0	32
34	1	33
35	2	34
36	3	35
37	4	36
38	5	37
39	6	38
40	0	39
41	1	40
42	2	41
43	3	42
44	4	43
45	5	44
46	6	45
47	0	46
48	1	47
49	2	48
0	3	49
1	4	50
2	5	51
3	6	52
4	0	53
5	1	54
6	2	55
7	3	56
8	4	57
9	5	58
10	6	59
11	0	60
12	1	61
13	2	62
14	3	63
15	4	64
16	5	65
17	6	66
18	0	67
19	1	68
20	2	69
21	3	70
22	4	71
23	5	72
24	6	73
25	0	74
26	1	75
27	2	76
28	3	77
29	4	78
30	5	79
31	6	80
32	0	81
33	1	82
34	2	83
35	3	84
36	4	85
37	5	86
38	6	87
39	0	88
40	1	89
41	2	90
42	3	91
43	4	92
44	5	93
45	6	94
46	0	95
47	1	96
48	2	97
49	3	98
0	4	99
1	5	100
2	6	0
3	0	1
4	1	2
5	2	3
6	3	4
7	4	5
8	5	6
9	6	7
10	0	8
11	1	9
12	2	10
13	3	11
14	4	12
15	5	13
16	6	14
17	0	15
18	1	16
19	2	17
20	3	18
21	4	19
22	5	20
23	6	21
24	0	22
25	1	23
26	2	24
27	3	25
28	4	26
29	5	27
30	6	28
31	0	29
32	1	30
33	2	31
34	3	32
35	4	33
36	5	34
37	6	35
38	0	36
39	1	37
40	2	38
41	3	39
42	4	40
43	5	41
44	6	42
45	0	43
46	1	44
47	2	45
48	3	46
49	4	47
0	5	48
1	6	49
2	0	50
3	1	51
4	2	52
5	3	53
6	4	54
7	5	55
8	6	56
9	0	57
10	1	58
11	2	59
12	3	60
13	4	61
14	5	62
15	6	63
16	0	64
17	1	65
18	2	66
19	3	67
20	4	68
21	5	69
22	6	70
23	0	71
24	1	72
25	2	73
26	3	74
27	4	75
28	5	76
29	6	77
30	0	78
31	1	79
32	2	80
33	3	81
34	4	82
35	5	83
36	6	84
37	0	85
38	1	86
39	2	87
40	3	88
41	4	89
42	5	90
43	6	91
44	0	92
45	1	93
46	2	94
47	3	95
48	4	96
49	5	97
0	6	98
1	0	99
2	1	100
3	2	0
4	3	1
5	4	2
6	5	3
7	6	4
8	0	5
9	1	6
10	2	7
11	3	8
12	4	9
13	5	10
14	6	11
15	0	12
16	1	13
17	2	14
18	3	15
19	4	16
20	5	17
21	6	18
22	0	19
23	1	20
24	2	21
25	3	22
26	4	23
27	5	24
28	6	25
29	0	26
30	1	27
31	2	28
32	3	29
33	4	30
34	5	31
35	6	32
36	0	33
37	1	34
38	2	35
39	3	36
40	4	37
41	5	38
42	6	39
43	0	40
44	1	41
45	2	42
46	3	43
47	4	44
48	5	45
49	6	46
0	0	47
1	1	48
2	2	49
3	3	50
4	4	51
5	5	52
6	6	53
7	0	54
8	1	55
9	2	56
10	3	57
11	4	58
12	5	59
13	6	60
14	0	61
15	1	62
16	2	63
17	3	64
18	4	65
19	5	66
20	6	67
21	0	68
22	1	69
23	2	70
24	3	71
25	4	72
26	5	73
27	6	74
28	0	75
29	1	76
30	2	77
31	3	78
32	4	79
33	5	80
34	6	81
35	0	82
36	1	83
37	2	84
38	3	85
39	4	86
40	5	87
41	6	88
42	0	89
43	1	90
44	2	91
45	3	92
46	4	93
47	5	94
48	6	95
49	0	96
0	1	97
\.


--
-- Data for Name: release; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.release (name, cdf) FROM stdin;
bins	{"lower": -0.1, "upper": 1000, "bins": 30, "method": "tree", "epsilon": 1, "branching": [4, 12], "level_epsilon": [0.4325361738319434, 0.5674638261671471], "rows": 403, "cumulative": [136, 270, 398, 400, 402, 402, 402, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403]}
rho	{"lower": 0, "upper": 100, "granularity": 5, "bins": 21, "method": "binary", "rho": 0.5, "branching": [2, 2, 2, 2, 2], "level_rho": [0.09999999999990905, 0.09999999999990905, 0.09999999999990905, 0.09999999999990905, 0.09999999999990905], "rows": 400, "cumulative": [11, 33, 52, 73, 93, 114, 133, 155, 174, 194, 214, 232, 255, 275, 293, 312, 331, 352, 372, 392, 400]}
\.


--
-- Name: release release_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_pkey PRIMARY KEY (name);


--
-- Name: release_dp_cdf_rows_idx; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX release_dp_cdf_rows_idx ON public.release USING btree (public.dp_cdf_rows(cdf));


--
-- Name: TABLE person; Type: ACL; Schema: public; Owner: postgres
--

GRANT SELECT ON TABLE public.person TO PUBLIC;


--
-- PostgreSQL database dump complete
--


