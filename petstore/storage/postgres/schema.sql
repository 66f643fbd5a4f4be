-- The tables of a store. All of them are in the schema petstore. With every change of them,
-- raise schemaVersion in schema.go: a server refuses tables that another version has created.
CREATE SCHEMA petstore;

-- One row. Each change locks it, so that commits are one after the other. Nothing updates
-- it: dead versions of the row would pile up while somebody holds a snapshot.
CREATE TABLE petstore.store (
    version bigint NOT NULL -- schemaVersion
);

-- One row for each commit. The row with the highest number is the state of the
-- store. The others are there for servers that lost the response to a COMMIT,
-- and are deleted after some minutes.
CREATE TABLE petstore.commits (
    number       bigint PRIMARY KEY,
    token        uuid NOT NULL, -- chosen by the server that committed
    made         timestamptz NOT NULL,
    pets         bigint NOT NULL, -- how many there are
    last_pet     bigint NOT NULL, -- the highest ID ever
    last_message bigint NOT NULL, -- the highest number ever
    queued       bigint NOT NULL  -- messages in the queue
);
INSERT INTO petstore.commits VALUES (0, gen_random_uuid(), now(), 0, 0, 0, 0);

CREATE TABLE petstore.pets (
    id     bigint PRIMARY KEY,
    status text COLLATE "C",
    pet    json NOT NULL -- as in a response; the type jsonb does not allow U+0000
);
CREATE INDEX pets_status_id ON petstore.pets (status, id);

-- The queue. Its texts are in UTF-8, as bytes: the type text does not allow U+0000. To read
-- them, use convert_from(text, 'UTF8').
CREATE TABLE petstore.messages (
    number bigint PRIMARY KEY,
    made   timestamptz NOT NULL,
    text   bytea NOT NULL
);

-- What was created with an idempotency key.
CREATE TABLE petstore.outcomes (
    digest  bytea PRIMARY KEY,   -- of the idempotency key and the operation
    hash    bytea NOT NULL,      -- SHA-256 of the pet's JSON or of the message's text
    pet     bigint NOT NULL,     -- its ID; 0: it was a message
    message bigint NOT NULL,     -- its number; 0: it was a pet
    made    timestamptz NOT NULL
);
CREATE INDEX outcomes_made ON petstore.outcomes (made);
