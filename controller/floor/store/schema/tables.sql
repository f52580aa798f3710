-- Version 1 of the floor's store. Who makes it owns it; the store writes as a member of cardshoe_writer, and people read
-- the views as members of cardshoe_reader (roles.sql).
--
--     journal         a journal, under which topics it comes, and up to where it is whole
--     journal_file    its files, each with the key that signs its heads
--     decision        its decisions, by month; never changed
--     event           their events, by month; never changed
--     head            its signed heads; never changed
--     conflict        records that contradict those that are stored
--     alarm           what a person has to look at
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

-- What people and indexes read of an event, whatever it holds: a whole number, else null; a list, else an empty one.
CREATE FUNCTION cardshoe.whole(written text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN written ~ '^-?[0-9]{1,18}$' THEN written::bigint END
$$;

CREATE FUNCTION cardshoe.listed(given jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_typeof(given) = 'array' THEN given ELSE '[]' END
$$;

-- The chain is followed from the lowest known file on. number, hash: up to where every record is there and follows the
-- one before; -1: no file is known yet. highest: the last entry of any decision. broken_at: the decision or file that
-- does not follow. pruned: up to there rows were deleted by age. key: which signed the beginning of one of its files, for
-- the table under whose topics it comes; null: none has come.
--
-- What comes under the topics of one table is that table's alone: nobody who publishes for another changes a row of it.
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

-- number, hash and so on are null until the record of the file has come: decisions may come before it.
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

-- digest: over all of the record, because the hash is also over what only the table has.
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

-- Of what a report begins with.
CREATE INDEX event_by_name ON cardshoe.event (name, at) WHERE name IN (
    'cards_recalled', 'clock_ran_backwards', 'command_refused', 'command_unanswered', 'device_differs', 'device_lost',
    'device_stopped', 'entry_corrected', 'exit_differs', 'irregularity_raised', 'layout_corrected', 'operation_refused',
    'operation_taken', 'pin_refused', 'reports_passed', 'round_began', 'shuffle_failed', 'status_differs',
    'wagers_settled'
);

-- Of what holds until the next of it.
CREATE INDEX event_of_table ON cardshoe.event (journal, name, number) WHERE name IN (
    'configuration_recorded', 'dealer_came', 'dealer_left', 'device_ready', 'game_chosen', 'handed_over',
    'round_voided', 'start_taken_back', 'table_began'
);

CREATE INDEX event_of_irregularity ON cardshoe.event (journal, (cardshoe.whole(body ->> 'irregularity'))) WHERE name IN (
    'fact_stated', 'irregularity_confirmed', 'irregularity_reopened', 'irregularity_resolved', 'order_named',
    'report_joined', 'ruled'
);

-- What is of no month that was made: of a table whose clock was wrong.
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

-- One row while it is open, however often it was found. journal null: of a topic alone. number: the first entry.
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
