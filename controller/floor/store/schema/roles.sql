-- cardshoe_writer: the store. cardshoe_reader: analysts, Grafana. People and programs log in as members of these.

DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['cardshoe_writer', 'cardshoe_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cardshoe FROM PUBLIC;
GRANT USAGE ON SCHEMA cardshoe TO cardshoe_writer, cardshoe_reader;
GRANT SELECT ON cardshoe.schema_version TO cardshoe_writer, cardshoe_reader;

-- The store cannot change or delete evidence.
GRANT SELECT, INSERT ON cardshoe.decision, cardshoe.event, cardshoe.head, cardshoe.conflict TO cardshoe_writer;
GRANT SELECT, INSERT, UPDATE ON cardshoe.journal, cardshoe.journal_file, cardshoe.alarm TO cardshoe_writer;
GRANT EXECUTE ON FUNCTION cardshoe.add_month TO cardshoe_writer;
GRANT EXECUTE ON FUNCTION cardshoe.close_alarm TO cardshoe_writer;

GRANT EXECUTE ON FUNCTION cardshoe.amount, cardshoe.whole, cardshoe.listed, cardshoe.said TO cardshoe_writer, cardshoe_reader;
GRANT SELECT ON cardshoe.tables, cardshoe.rounds, cardshoe.hands, cardshoe.wagers, cardshoe.irregularities,
    cardshoe.device_faults, cardshoe.people, cardshoe.heads, cardshoe.alarms
TO cardshoe_writer, cardshoe_reader;
