-- The views for people and dashboards. Every column is looked up by a separate index, and only if it is requested: a
-- query that counts the rounds of a day reads one row a round. Times are those of the tables' clocks.
--
-- No view fails on an event's content: a client that may publish for one table must not break the reports of all.
--
-- Rounds, hands and irregularities are derived here from the stored events, and not taken from a table's own summary of
-- a round (controller/table/round_summary.py): the store audits the tables, and its records arrive in any order. A test
-- compares both for every scenario and for rounds of simulated people (tests/floor/test_store_views.py).

-- Returns an amount of money that is written as a whole number or a fraction, such as 15/2, or null.
CREATE FUNCTION cardshoe.amount(written text) RETURNS numeric
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN written ~ '^-?[0-9]{1,40}$' THEN written::numeric
        WHEN written ~ '^-?[0-9]{1,40}/0*[1-9][0-9]{0,40}$'
        THEN split_part(written, '/', 1)::numeric / split_part(written, '/', 2)::numeric END
$$;

-- Returns a text of an event in English: the text itself, or a message with its arguments filled in
-- (firmware_bridge/messages.py).
-- A slot without an argument stays, and so do those of messages nested deeper than the tables' own.
CREATE FUNCTION cardshoe.said(given jsonb, joint text DEFAULT 'and', depth integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    slots CONSTANT text := '\{(\w+)(?::(or|list|clauses|points|sentences))?\}';
    english text;
    literals text[];
    slot text[];
    argument jsonb;
    parts text[];
    last text;
    result text;
    filled integer := 0;
BEGIN
    IF jsonb_typeof(given) = 'array' THEN
        parts := ARRAY(
            SELECT cardshoe.said(a.part, joint, depth) FROM jsonb_array_elements(given) WITH ORDINALITY AS a(part, place)
            ORDER BY a.place LIMIT 100
        );
        IF joint IN ('list', 'clauses', 'points', 'sentences') OR cardinality(parts) < 2 THEN
            RETURN array_to_string(
                parts, CASE joint WHEN 'clauses' THEN '; ' WHEN 'points' THEN '. ' WHEN 'sentences' THEN ' ' ELSE ', ' END
            );
        END IF;
        last := parts[cardinality(parts)];
        RETURN array_to_string(trim_array(parts, 1), ', ') || ' ' || joint || ' ' || last;
    ELSIF jsonb_typeof(given) <> 'object' OR jsonb_typeof(given -> 'id') <> 'string' OR depth > 3 THEN
        RETURN given #>> '{}';
    END IF;
    english := given ->> 'id';
    IF given ->> 'many' <> '' AND given #>> '{args,count}' IS DISTINCT FROM '1' THEN
        english := given ->> 'many';
    END IF;
    english := left(english, 1000);
    literals := regexp_split_to_array(english, slots);
    result := literals[1];
    FOR slot IN SELECT m FROM regexp_matches(english, slots, 'g') AS m LOOP
        filled := filled + 1;
        argument := given #> ARRAY['args', slot[1]];
        result := result || CASE WHEN argument IS NULL OR filled > 10 THEN '{' || slot[1] || '}'
            ELSE cardshoe.said(argument, coalesce(slot[2], 'and'), depth + 1) END || literals[filled + 1];
    END LOOP;
    IF given ->> 'id' ~ '[.?!]$' THEN
        result := regexp_replace(upper(left(result, 1)) || substr(result, 2), '([.?!])[.?!]$', '\1');
    END IF;
    RETURN left(result, 10000);
END $$;

CREATE VIEW cardshoe.tables AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, j.simulated, j.begins_at AS verified_after,
    nullif(j.number, -1) AS verified_up_to, nullif(j.highest, -1) AS stored_up_to, j.incomplete_since, j.broken_at,
    nullif(j.pruned, -1) AS pruned_up_to, nullif(j.head_number, -1) AS signed_up_to, encode(j.key, 'hex') AS key,
    j.heard_at,
    (SELECT count(*) FROM cardshoe.alarm a WHERE a.journal = j.id AND a.closed_at IS NULL) AS alarms_open
FROM cardshoe.journal j;

CREATE VIEW cardshoe.alarms AS
SELECT a.id, a.kind, a.closed_at IS NULL AS is_open, a.raised_at, a.last_at, a.count, j.site, j.pit, j.table_name,
    j.journal_id AS journal, a.topic, a.number AS entry, a.sentence, a.closed_at, a.closed_because
FROM cardshoe.alarm a LEFT JOIN cardshoe.journal j ON j.id = a.journal;

-- agrees tells whether the head signs the stored decision or file name; it is null until that arrives.
CREATE VIEW cardshoe.heads AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, f.file_id AS file, h.number AS entry,
    encode(h.hash, 'hex') AS hash, h.at AS signed_at, encode(h.key, 'hex') AS key,
    encode(h.signature, 'hex') AS signature,
    h.hash = CASE WHEN f.number = h.number THEN f.hash ELSE (
        SELECT d.hash FROM cardshoe.decision d WHERE d.journal = h.journal AND d.last = h.number LIMIT 1
    ) END AS agrees
FROM cardshoe.head h
JOIN cardshoe.journal j ON j.id = h.journal
JOIN cardshoe.journal_file f ON f.id = h.file;

-- ending is one of: concluded, void, in progress, did not begin. dealer is the dealer at its beginning.
CREATE VIEW cardshoe.rounds AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, b.round, b.at AS began_at,
    coalesce(
        (
            SELECT e.at FROM cardshoe.event e
            WHERE e.journal = b.journal AND e.name = 'start_taken_back' AND e.number > b.number
                AND cardshoe.whole(e.body ->> 'taken_back') = b.round
            LIMIT 1
        ),
        (
            SELECT CASE WHEN e.body -> 'cancels' = 'true' OR e.body ->> 'phase' IN ('concluded', 'voided') THEN e.at END
            FROM cardshoe.event e
            WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'phase_entered' AND (
                e.body -> 'cancels' = 'true' OR e.body ->> 'phase' NOT IN ('closed', 'idle', 'maintenance'))
            ORDER BY e.number DESC LIMIT 1
        )
    ) AS ended_at,
    CASE
        WHEN EXISTS (
            SELECT FROM cardshoe.event e
            WHERE e.journal = b.journal AND e.name = 'start_taken_back' AND e.number > b.number
                AND cardshoe.whole(e.body ->> 'taken_back') = b.round
        ) THEN 'did not begin'
        ELSE coalesce((
            SELECT CASE
                WHEN e.name = 'round_voided' THEN 'void'
                WHEN e.body -> 'cancels' = 'true' THEN 'did not begin'
                WHEN e.body ->> 'phase' = 'concluded' THEN 'concluded'
                WHEN e.body ->> 'phase' = 'voided' THEN 'void'
                ELSE 'in progress'
            END
            FROM (
                SELECT e.number, e.name, e.body FROM cardshoe.event e
                WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'phase_entered' AND (
                    e.body -> 'cancels' = 'true' OR e.body ->> 'phase' NOT IN ('closed', 'idle', 'maintenance'))
                UNION ALL
                SELECT e.number, e.name, e.body FROM cardshoe.event e
                WHERE e.journal = b.journal AND e.name = 'round_voided' AND e.number > b.number
                    AND coalesce(nullif(cardshoe.whole(e.body ->> 'of_round'), 0), e.round) = b.round
            ) e
            ORDER BY e.number DESC LIMIT 1
        ), 'in progress')
    END AS ending,
    (
        SELECT e.body #>> '{settings,game}' FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.name = 'game_chosen' AND e.number < b.number
        ORDER BY e.number DESC LIMIT 1
    ) AS game,
    (
        SELECT CASE e.name WHEN 'handed_over' THEN e.body ->> 'to_dealer' WHEN 'dealer_came' THEN e.body ->> 'dealer'
            ELSE '' END
        FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.name IN ('dealer_came', 'handed_over', 'dealer_left') AND e.number < b.number
        ORDER BY e.number DESC LIMIT 1
    ) AS dealer,
    (
        SELECT e.body #>> '{identity,serial}' FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.name = 'device_ready' AND e.number < b.number
        ORDER BY e.number DESC LIMIT 1
    ) AS device,
    coalesce(nullif(b.body ->> 'label', ''), b.body ->> 'deck') AS deck,
    (
        SELECT ARRAY(SELECT cardshoe.whole(box) FROM jsonb_array_elements_text(cardshoe.listed(e.body -> 'boxes')) AS box)
        FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'boxes_occupied'
        ORDER BY e.number DESC LIMIT 1
    ) AS boxes,
    (
        SELECT e.body ->> 'clause' FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'deal_began'
        ORDER BY e.number DESC LIMIT 1
    ) AS dealt_by_clause,
    (
        SELECT CASE WHEN e.name = 'round_voided' THEN
            coalesce(nullif(e.body ->> 'clause', ''), nullif(e.body ->> 'authority', ''), 'abandoned') END
        FROM (
            SELECT e.number, e.name, e.body FROM cardshoe.event e
            WHERE e.journal = b.journal AND e.name = 'round_voided' AND e.number > b.number
                AND coalesce(nullif(cardshoe.whole(e.body ->> 'of_round'), 0), e.round) = b.round
            UNION ALL
            SELECT e.number, e.name, e.body FROM cardshoe.event e
            WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'void_lifted'
        ) e
        ORDER BY e.number DESC LIMIT 1
    ) AS void_by,
    (
        SELECT CASE WHEN e.name = 'wagers_settled' THEN cardshoe.amount(e.body ->> 'house') END FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND e.name IN ('wagers_settled', 'settlement_reversed')
        ORDER BY e.number DESC LIMIT 1
    ) AS house_gains,
    (
        SELECT count(*) FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'operation_refused'
    ) AS refused,
    b.number AS entry
FROM cardshoe.event b JOIN cardshoe.journal j ON j.id = b.journal
WHERE b.name = 'round_began';

-- Each place of a round that got cards or was turned over. cards are null if they were not turned over. outcome is that
-- of a box against the dealer. removed_by is the clause or the authority that took it out of play.
CREATE VIEW cardshoe.hands AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, b.round, b.at AS began_at, p.place,
    (
        SELECT CASE WHEN e.name = 'hand_exposed' THEN ARRAY(SELECT jsonb_array_elements_text(cardshoe.listed(e.body -> 'cards'))) END
        FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND e.name IN ('hand_exposed', 'hand_taken_back')
            AND e.body ->> 'place' = p.place
        ORDER BY e.number DESC LIMIT 1
    ) AS cards,
    o.outcome, o.hand, o.dealer_hand, o.half, o.clause,
    (
        SELECT CASE WHEN e.name = 'hand_removed' THEN
            coalesce(nullif(e.body ->> 'clause', ''), nullif(e.body ->> 'authority', ''), 'a ruling') END
        FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND (
            (e.name = 'hand_removed' AND e.body ->> 'place' = p.place)
            OR (e.name = 'irregularity_reopened' AND e.body -> 'hands' ? p.place)
            OR (e.name = 'phase_entered' AND e.body -> 'frees_bets' = 'true'))
        ORDER BY e.number DESC LIMIT 1
    ) AS removed_by
FROM cardshoe.event b
JOIN cardshoe.journal j ON j.id = b.journal
CROSS JOIN LATERAL (
    SELECT jsonb_array_elements_text(cardshoe.listed(e.body -> 'places')) AS place FROM cardshoe.event e
    WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'cards_dealt'
    UNION
    SELECT e.body ->> 'place' FROM cardshoe.event e
    WHERE e.journal = b.journal AND e.round = b.round AND e.name = 'hand_exposed'
) p
LEFT JOIN LATERAL (
    SELECT e.body ->> 'outcome' AS outcome, cardshoe.said(e.body -> 'hand') AS hand,
        cardshoe.said(e.body -> 'dealer_hand') AS dealer_hand,
        e.body -> 'half' = 'true' AS half, e.body ->> 'clause' AS clause
    FROM (
        SELECT e.name, e.body FROM cardshoe.event e
        WHERE e.journal = b.journal AND e.round = b.round AND (
            (e.name IN ('hand_judged', 'hand_removed') AND e.body ->> 'place' = p.place)
            OR (e.name = 'judgement_taken_back' AND e.body -> 'places' ? p.place))
        ORDER BY e.number DESC LIMIT 1
    ) e
    WHERE e.name = 'hand_judged'
) o ON true
WHERE b.name = 'round_began';

-- Each bet of each settlement. stands tells whether it is valid: neither reversed nor settled again. Amounts are in the
-- smallest unit.
CREATE VIEW cardshoe.wagers AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, s.round, s.at AS settled_at,
    cardshoe.whole(w.bet ->> 'number') AS number, w.bet ->> 'bettor' AS bettor, w.bet ->> 'wager' AS wager,
    cardshoe.whole(w.bet ->> 'box') AS box, cardshoe.amount(w.bet ->> 'amount') AS amount, w.bet ->> 'verdict' AS verdict,
    w.bet ->> 'clause' AS clause, cardshoe.said(w.bet -> 'because') AS because,
    cardshoe.amount(w.bet ->> 'returned') AS returned, cardshoe.amount(w.bet ->> 'collected') AS collected,
    cardshoe.amount(w.bet ->> 'held') AS held, cardshoe.amount(w.bet ->> 'paid') AS paid,
    NOT EXISTS (
        SELECT FROM cardshoe.event e
        WHERE e.journal = s.journal AND e.round = s.round AND e.name IN ('wagers_settled', 'settlement_reversed')
            AND e.number > s.number
    ) AS stands,
    s.number AS entry
FROM cardshoe.event s
JOIN cardshoe.journal j ON j.id = s.journal
CROSS JOIN LATERAL jsonb_array_elements(cardshoe.listed(s.body -> 'bets')) AS w(bet)
WHERE s.name = 'wagers_settled';

-- round is the round concerned. number is that of the game's table, such as I12. outcome is null while it is open.
-- decided_by is the person who confirmed, ruled, named the order or denied it; others may have carried it out
-- afterwards.
CREATE VIEW cardshoe.irregularities AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, r.number AS id,
    coalesce(nullif(cardshoe.whole(r.body ->> 'of_round'), 0), r.round) AS round, r.at AS raised_at,
    r.body ->> 'kind' AS kind, w.row ->> 'id' AS number, w.row ->> 'clause' AS clause,
    w.row ->> 'authority' AS authority, w.row ->> 'disposition' AS proposes,
    coalesce(
        (
            SELECT e.body ->> 'place' FROM cardshoe.event e
            WHERE e.journal = r.journal AND cardshoe.whole(e.body ->> 'irregularity') = r.number
                AND e.name IN ('fact_stated', 'report_joined') AND e.body ->> 'place' <> ''
            ORDER BY e.number DESC LIMIT 1
        ),
        r.body ->> 'place', ''
    ) AS place,
    r.body ->> 'noticed_by' AS noticed_by, x.outcome, x.at AS closed_at,
    CASE WHEN x.outcome = 'denied' OR d.person IS NULL THEN x.by ELSE d.person END AS decided_by,
    CASE WHEN x.outcome = 'denied' OR d.person IS NULL THEN x.role ELSE d.role END AS decided_role
FROM cardshoe.event r
JOIN cardshoe.journal j ON j.id = r.journal
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT e.body -> 'row' FROM cardshoe.event e
        WHERE e.journal = r.journal AND cardshoe.whole(e.body ->> 'irregularity') = r.number
            AND e.name IN ('irregularity_confirmed', 'fact_stated', 'irregularity_reopened')
        ORDER BY e.number DESC LIMIT 1
    ), r.body -> 'row') AS row
) w
LEFT JOIN LATERAL (
    SELECT e.at, e.body ->> 'outcome' AS outcome, e.body ->> 'by' AS by, e.body ->> 'role' AS role
    FROM (
        SELECT e.name, e.at, e.body FROM cardshoe.event e
        WHERE e.journal = r.journal AND cardshoe.whole(e.body ->> 'irregularity') = r.number
            AND e.name IN ('irregularity_resolved', 'irregularity_reopened')
        ORDER BY e.number DESC LIMIT 1
    ) e
    WHERE e.name = 'irregularity_resolved'
) x ON true
LEFT JOIN LATERAL (
    SELECT o.body ->> 'person' AS person, o.body ->> 'role' AS role
    FROM cardshoe.event e
    JOIN cardshoe.event o ON o.journal = e.journal AND o.round = e.round AND o.name = 'operation_taken'
        AND o.decision = e.decision
    WHERE x.outcome IS NOT NULL AND e.journal = r.journal AND cardshoe.whole(e.body ->> 'irregularity') = r.number
        AND e.name IN ('irregularity_confirmed', 'order_named', 'ruled')
    ORDER BY e.number DESC LIMIT 1
) d ON true
WHERE r.name = 'irregularity_raised';

-- what is the name of the event. code is that of a lost link, or the item that differs; detail is the rest of the
-- event.
CREATE VIEW cardshoe.device_faults AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, e.round, e.at, e.name AS what,
    coalesce(
        e.body ->> 'code', cardshoe.said(e.body -> 'cause'), cardshoe.said(e.body -> 'reason'), e.body ->> 'what', ''
    ) AS code,
    CASE jsonb_typeof(e.body) WHEN 'object' THEN e.body - 'event' END AS detail,
    (
        SELECT r.body #>> '{identity,serial}' FROM cardshoe.event r
        WHERE r.journal = e.journal AND r.name = 'device_ready' AND r.number < e.number
        ORDER BY r.number DESC LIMIT 1
    ) AS device,
    e.number AS entry
FROM cardshoe.event e JOIN cardshoe.journal j ON j.id = e.journal
WHERE e.name IN ('clock_ran_backwards', 'command_refused', 'command_unanswered', 'device_differs', 'device_lost',
        'device_stopped', 'exit_differs', 'reports_passed', 'shuffle_failed', 'status_differs')
    AND e.body ->> 'code' IS DISTINCT FROM 'returned-to-service';

-- The acts of a person at a table on a day (UTC). name comes from the table's newest configuration. misread counts
-- hands that the person entered with cards that differ from the device's reading.
CREATE VIEW cardshoe.people AS
SELECT j.site, j.pit, j.table_name, j.journal_id AS journal, did.day, did.person,
    (
        SELECT p.person ->> 'name' FROM (
            SELECT e.body FROM cardshoe.event e
            WHERE e.journal = did.journal AND e.name = 'configuration_recorded'
            ORDER BY e.number DESC LIMIT 1
        ) e, jsonb_array_elements(cardshoe.listed(e.body #> '{configuration,people}')) AS p(person)
        WHERE p.person ->> 'id' = did.person
        LIMIT 1
    ) AS name,
    did.roles, did.operations, did.refused, did.corrections, did.recalls, did.misread, did.wrong_pins,
    (
        SELECT count(*) FROM cardshoe.irregularities i
        WHERE i.journal = j.journal_id AND i.site = j.site AND i.table_name = j.table_name
            AND i.decided_by = did.person
            AND (i.closed_at AT TIME ZONE 'UTC')::date = did.day
    ) AS decided
FROM (
    SELECT e.journal, (e.at AT TIME ZONE 'UTC')::date AS day,
        CASE e.name WHEN 'hand_exposed' THEN e.body ->> 'differs_by'
            ELSE coalesce(e.body ->> 'person', e.body ->> 'by') END AS person,
        array_agg(DISTINCT e.body ->> 'role' ORDER BY e.body ->> 'role') FILTER (WHERE e.name = 'operation_taken') AS roles,
        count(*) FILTER (WHERE e.name = 'operation_taken') AS operations,
        count(*) FILTER (WHERE e.name = 'operation_refused') AS refused,
        count(*) FILTER (WHERE e.name IN ('entry_corrected', 'layout_corrected')) AS corrections,
        count(*) FILTER (WHERE e.name = 'cards_recalled') AS recalls,
        count(*) FILTER (WHERE e.name = 'hand_exposed') AS misread,
        count(*) FILTER (WHERE e.name = 'pin_refused') AS wrong_pins
    FROM cardshoe.event e
    WHERE e.name IN ('operation_taken', 'operation_refused', 'entry_corrected', 'layout_corrected', 'cards_recalled',
        'pin_refused') OR (e.name = 'hand_exposed' AND e.body ->> 'differs_by' <> '')
    GROUP BY 1, 2, 3
) did
JOIN cardshoe.journal j ON j.id = did.journal;
