-- Functions that writers may call although they need the owner's rights, and functions for the owner's maintenance.

-- Creates the partitions for the month of that day and moves matching rows from the default partitions into them. A
-- month that no correct clock shows is not created: its rows stay in the default partitions. Returns whether the month
-- exists.
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
        -- Created as a separate table and then attached, so that it does not block readers and writers, or wait for
        -- them.
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

-- Deletes decisions and events of the months before that day's. Heads, files and alarms stay. Returns the number of
-- deleted months.
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

-- Closes an alarm that a person has examined. Returns whether it was open.
CREATE FUNCTION cardshoe.close_alarm(alarm_id bigint, because text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH closed AS (
        UPDATE cardshoe.alarm SET closed_at = now(), closed_because = because
        WHERE id = alarm_id AND closed_at IS NULL RETURNING id
    ) SELECT count(*) > 0 FROM closed;
$$;

-- Moves a journal to the topics of another table or site, on a person's decision. Records that already arrived under
-- those topics are set aside: their journal's id gets a number. If they are sent again, they are stored with the rest.
-- Returns whether the journal exists.
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
