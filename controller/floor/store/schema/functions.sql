-- What writers may have done that needs the owner's rights, and what the owner does from time to time.

-- The partitions of the month of that day, with what lies in the others already. A month that no table's clock should
-- show is not made: its rows stay with the others. True: it is there.
CREATE FUNCTION cardshoe.add_month(of_day date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    begins timestamptz := date_trunc('month', of_day)::timestamp AT TIME ZONE 'UTC';
    ends timestamptz := (date_trunc('month', of_day) + interval '1 month')::timestamp AT TIME ZONE 'UTC';
    kind text;
    part text;
BEGIN
    IF begins < '2020-01-01' OR begins > now() + interval '2 months' THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('cardshoe.add_month'));
    FOREACH kind IN ARRAY ARRAY['decision', 'event'] LOOP
        part := format('%s_%s', kind, to_char(of_day, 'YYYY_MM'));
        CONTINUE WHEN to_regclass('cardshoe.' || part) IS NOT NULL;
        -- Made beside and attached: so that nobody who reads or writes waits for it, or it for them.
        EXECUTE format('CREATE TABLE cardshoe.%I (LIKE cardshoe.%I INCLUDING ALL)', part, kind);
        EXECUTE format(
            'WITH moved AS (DELETE FROM cardshoe.%I WHERE at >= %L AND at < %L RETURNING *)'
            ' INSERT INTO cardshoe.%I SELECT * FROM moved', kind || '_other', begins, ends, part);
        EXECUTE format(
            'ALTER TABLE cardshoe.%I ATTACH PARTITION cardshoe.%I FOR VALUES FROM (%L) TO (%L)',
            kind, part, begins, ends);
    END LOOP;
    RETURN true;
END $$;

-- Deletes decisions and events of the months before that day's. Heads, files and alarms stay. The months deleted.
CREATE FUNCTION cardshoe.prune(before date) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ends timestamptz := date_trunc('month', before)::timestamp AT TIME ZONE 'UTC';
    part text;
    months integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('cardshoe.add_month'));
    UPDATE cardshoe.journal j
    SET pruned = greatest(j.pruned, p.last),
        number = CASE WHEN j.number < p.last THEN p.last ELSE j.number END,
        hash = CASE WHEN j.number < p.last THEN p.hash ELSE j.hash END,
        file = CASE WHEN j.number < p.last THEN p.file ELSE j.file END,
        begins_at = CASE WHEN j.begins_at < 0 THEN p.last ELSE j.begins_at END
    FROM (
        SELECT DISTINCT ON (journal) journal, last, hash, file FROM cardshoe.decision
        WHERE at < ends ORDER BY journal, last DESC
    ) p
    WHERE j.id = p.journal;
    DELETE FROM cardshoe.event_other WHERE at < ends;
    DELETE FROM cardshoe.decision_other WHERE at < ends;
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'cardshoe.decision'::regclass AND c.relname <> 'decision_other'
            AND to_date(substr(c.relname, 10), 'YYYY_MM') < date_trunc('month', before)::date
        ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE cardshoe.%I', 'event' || substr(part, 9));
        EXECUTE format('DROP TABLE cardshoe.%I', part);
        months := months + 1;
    END LOOP;
    RETURN months;
END $$;

-- A person has looked into an alarm. True: it was open.
CREATE FUNCTION cardshoe.close_alarm(alarm_id bigint, because text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH closed AS (
        UPDATE cardshoe.alarm SET closed_at = now(), closed_because = because
        WHERE id = alarm_id AND closed_at IS NULL RETURNING id
    ) SELECT count(*) > 0 FROM closed;
$$;

-- A journal goes on under the topics of another table, or site, because a person says so. What came under those before is
-- set aside: its id gets a number. Sent again, it is stored with the rest. True: there is such a journal.
CREATE FUNCTION cardshoe.reassign(
    of_journal text, from_site text, from_table text, to_site text, to_pit text, to_table text
) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moved integer;
BEGIN
    PERFORM FROM cardshoe.journal j WHERE j.journal_id = of_journal ORDER BY j.id FOR UPDATE;
    SELECT j.id INTO moved FROM cardshoe.journal j
    WHERE j.journal_id = of_journal AND j.site = from_site AND j.table_name = from_table;
    IF moved IS NULL THEN
        RETURN false;
    END IF;
    UPDATE cardshoe.journal j SET journal_id = j.journal_id || '~' || j.id
    WHERE j.journal_id = of_journal AND j.site = to_site AND j.table_name = to_table AND j.id <> moved;
    UPDATE cardshoe.journal j SET site = to_site, pit = to_pit, table_name = to_table WHERE j.id = moved;
    UPDATE cardshoe.alarm a SET closed_at = now(), closed_because = 'the journal was reassigned'
    FROM cardshoe.journal j
    WHERE a.journal = j.id AND a.kind = 'other-table' AND a.closed_at IS NULL
        AND (j.journal_id = of_journal OR starts_with(j.journal_id, of_journal || '~'));
    RETURN true;
END $$;
