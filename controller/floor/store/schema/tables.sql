-- Version 1 of the floor's store. The role that creates it owns it; the store writes as a member of cardshoe_writer,
-- and people read the views as members of cardshoe_reader (roles.sql).
--
--     journal         a journal, the topics under which it arrives, and how far it is complete
--     journal_file    its files, each with the key that signs its heads
--     decision        its decisions, by month; never changed
--     event           their events, by month; never changed
--     head            its signed heads; never changed
--     conflict        records that contradict stored ones
--     alarm           findings that a person has to look at
--
-- Rows of decision and event refer to a journal and a file by number, without a foreign key: a check of each row would
-- cost more than the row.

CREATE SCHEMA cardshoe;

CREATE TABLE cardshoe.schema_version (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO cardshoe.schema_version (version) VALUES (1);

-- Values that queries and indexes read from an event of any content: a whole number, or else null; a list, or else an
-- empty one.
CREATE FUNCTION cardshoe.whole(written text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN written ~ '^-?[0-9]{1,18}$' THEN written::bigint END
$$;

CREATE FUNCTION cardshoe.listed(given jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_typeof(given) = 'array' THEN given ELSE '[]' END
$$;

-- The chain is followed from the lowest known file on. number and hash are the last entry up to which every record is
-- present and follows the previous one; number is -1 while no file is known. highest is the last entry of any decision.
-- broken_at is the decision or file that does not follow. Rows up to pruned were deleted by age. key is the key that
-- signed the beginning of one of its files, for the table under whose topics it arrives; null until one arrives.
--
-- Records under the topics of one table belong to that table alone: a client that publishes for another table cannot
-- change its rows.
CREATE TABLE cardshoe.journal (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    journal_id text NOT NULL,
    site text NOT NULL,
    pit text NOT NULL,
    table_name text NOT NULL,
    simulated boolean,
    begins_at bigint NOT NULL DEFAULT -1,
    number bigint NOT NULL DEFAULT -1,
    hash bytea NOT NULL DEFAULT '',
    file integer NOT NULL DEFAULT 0,
    highest bigint NOT NULL DEFAULT -1,
    head_number bigint NOT NULL DEFAULT -1,
    broken_at bigint,
    pruned bigint NOT NULL DEFAULT -1,
    key bytea,
    incomplete_since timestamptz,
    heard_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (journal_id, site, table_name)
) WITH (fillfactor = 50);

CREATE INDEX journal_of_table ON cardshoe.journal (site, table_name);

-- number, hash and the other columns are null until the record of the file arrives: decisions may arrive before it.
CREATE TABLE cardshoe.journal_file (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    journal integer NOT NULL REFERENCES cardshoe.journal,
    file_id text NOT NULL,
    number bigint,
    hash bytea,
    at timestamptz,
    utc_ns bigint,
    table_name text,
    simulated boolean,
    key bytea,
    endorsement bytea,
    previous_file text,
    previous_hash bytea,
    UNIQUE (journal, file_id)
);

-- digest covers the whole record as published; the hash also covers data that only the table has.
CREATE TABLE cardshoe.decision (
    journal integer NOT NULL,
    last bigint NOT NULL,
    first bigint NOT NULL,
    file integer NOT NULL,
    at timestamptz NOT NULL,
    utc_ns bigint NOT NULL,
    round integer NOT NULL,
    hash bytea NOT NULL,
    before bytea NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (journal, last, at)
) PARTITION BY RANGE (at);

CREATE TABLE cardshoe.event (
    journal integer NOT NULL,
    number bigint NOT NULL,
    decision bigint NOT NULL,
    at timestamptz NOT NULL,
    round integer NOT NULL,
    name text NOT NULL,
    body jsonb NOT NULL,
    PRIMARY KEY (journal, number, at)
) PARTITION BY RANGE (at);

CREATE INDEX event_of_round ON cardshoe.event (journal, round, name);

-- Events with which queries of reports begin.
CREATE INDEX event_by_name ON cardshoe.event (name, at) WHERE name IN (
    'cards_recalled', 'clock_ran_backwards', 'command_refused', 'command_unanswered', 'device_differs', 'device_lost',
    'device_stopped', 'entry_corrected', 'exit_differs', 'irregularity_raised', 'layout_corrected', 'operation_refused',
    'operation_taken', 'pin_refused', 'reports_passed', 'round_began', 'shuffle_failed', 'status_differs',
    'wagers_settled'
);

-- Events that are valid until the next of their kind.
CREATE INDEX event_of_table ON cardshoe.event (journal, name, number) WHERE name IN (
    'configuration_recorded', 'dealer_came', 'dealer_left', 'device_ready', 'game_chosen', 'handed_over',
    'round_voided', 'start_taken_back', 'table_began'
);

CREATE INDEX event_of_irregularity ON cardshoe.event (journal, (cardshoe.whole(body ->> 'irregularity'))) WHERE name IN (
    'fact_stated', 'irregularity_confirmed', 'irregularity_reopened', 'irregularity_resolved', 'order_named',
    'report_joined', 'ruled'
);

-- Rows of months without a partition, from tables whose clock was wrong.
CREATE TABLE cardshoe.decision_other PARTITION OF cardshoe.decision DEFAULT;
CREATE TABLE cardshoe.event_other PARTITION OF cardshoe.event DEFAULT;

CREATE TABLE cardshoe.head (
    journal integer NOT NULL REFERENCES cardshoe.journal,
    file integer NOT NULL REFERENCES cardshoe.journal_file,
    number bigint NOT NULL,
    hash bytea NOT NULL,
    at timestamptz NOT NULL,
    utc_ns bigint NOT NULL,
    signature bytea NOT NULL,
    key bytea NOT NULL,
    PRIMARY KEY (journal, number, file)
);

CREATE TABLE cardshoe.conflict (
    journal integer NOT NULL REFERENCES cardshoe.journal,
    digest bytea NOT NULL,
    kind text NOT NULL,
    topic text NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL,
    record jsonb NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (journal, digest)
);
CREATE INDEX ON cardshoe.conflict (journal, hash);

-- An open alarm is one row, however often it was found. journal is null if it only concerns a topic. number is the
-- first entry.
CREATE TABLE cardshoe.alarm (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    journal integer REFERENCES cardshoe.journal,
    topic text NOT NULL DEFAULT '',
    number bigint,
    sentence text NOT NULL,
    count bigint NOT NULL DEFAULT 1,
    raised_at timestamptz NOT NULL DEFAULT now(),
    last_at timestamptz NOT NULL DEFAULT now(),
    closed_at timestamptz,
    closed_because text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX alarm_open ON cardshoe.alarm (kind, coalesce(journal, 0), topic) WHERE closed_at IS NULL;
