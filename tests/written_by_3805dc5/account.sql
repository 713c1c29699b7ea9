BEGIN TRANSACTION;
CREATE TABLE tacit_accounts (
	dataset VARCHAR(255) NOT NULL, 
	epsilon FLOAT NOT NULL, 
	delta FLOAT NOT NULL, 
	neighbouring VARCHAR(32) NOT NULL, 
	created VARCHAR(32) NOT NULL, 
	PRIMARY KEY (dataset)
);
INSERT INTO "tacit_accounts" VALUES('survey',2.0,1.0e-06,'add_or_remove_one','2026-11-27T10:38:00+00:00');
CREATE TABLE tacit_closings (
	reservation INTEGER NOT NULL, 
	outcome VARCHAR(16) NOT NULL, 
	closed VARCHAR(32) NOT NULL, 
	PRIMARY KEY (reservation), 
	FOREIGN KEY(reservation) REFERENCES tacit_reservations (id)
);
INSERT INTO "tacit_closings" VALUES(1,'completed','2026-11-27T10:38:04+00:00');
INSERT INTO "tacit_closings" VALUES(2,'completed','2026-11-27T10:38:06+00:00');
CREATE TABLE tacit_entries (
	reservation INTEGER NOT NULL, 
	sequence INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	charge TEXT NOT NULL, 
	theorem TEXT NOT NULL, 
	PRIMARY KEY (reservation, sequence), 
	FOREIGN KEY(reservation) REFERENCES tacit_reservations (id)
);
INSERT INTO "tacit_entries" VALUES(1,0,'tree 1, class counts of leaves','{"kind": "gaussian", "noise_multiplier": 8.676636497631323}','weighted histogram: one row, one cell');
INSERT INTO "tacit_entries" VALUES(2,0,'tree 1, class counts of leaves','{"kind": "laplace", "noise_multiplier": 4.0}','weighted histogram: one row, one cell');
CREATE TABLE tacit_reservations (
	id INTEGER NOT NULL, 
	dataset VARCHAR(255) NOT NULL, 
	label TEXT NOT NULL, 
	charges TEXT NOT NULL, 
	holder VARCHAR(255) NOT NULL, 
	created VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(dataset) REFERENCES tacit_accounts (dataset)
);
INSERT INTO "tacit_reservations" VALUES(1,'survey','fit of RandomTreesClassifier','[{"kind": "zcdp", "rho": 0.006641515609059561}]','node:1','2026-11-27T10:38:01+00:00');
INSERT INTO "tacit_reservations" VALUES(2,'survey','fit of RandomTreesClassifier','[{"kind": "pure", "epsilon": 0.25}]','node:1','2026-11-27T10:38:05+00:00');
CREATE TABLE tacit_store (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "tacit_store" VALUES(1);
CREATE INDEX ix_tacit_reservations_dataset ON tacit_reservations (dataset);
CREATE TRIGGER tacit_accounts_no_update BEFORE UPDATE ON tacit_accounts BEGIN SELECT RAISE(ABORT, 'tacit_accounts is append-only'); END;
CREATE TRIGGER tacit_accounts_no_delete BEFORE DELETE ON tacit_accounts BEGIN SELECT RAISE(ABORT, 'tacit_accounts is append-only'); END;
CREATE TRIGGER tacit_store_no_update BEFORE UPDATE ON tacit_store BEGIN SELECT RAISE(ABORT, 'tacit_store is append-only'); END;
CREATE TRIGGER tacit_store_no_delete BEFORE DELETE ON tacit_store BEGIN SELECT RAISE(ABORT, 'tacit_store is append-only'); END;
CREATE TRIGGER tacit_reservations_no_update BEFORE UPDATE ON tacit_reservations BEGIN SELECT RAISE(ABORT, 'tacit_reservations is append-only'); END;
CREATE TRIGGER tacit_reservations_no_delete BEFORE DELETE ON tacit_reservations BEGIN SELECT RAISE(ABORT, 'tacit_reservations is append-only'); END;
CREATE TRIGGER tacit_closings_no_update BEFORE UPDATE ON tacit_closings BEGIN SELECT RAISE(ABORT, 'tacit_closings is append-only'); END;
CREATE TRIGGER tacit_closings_no_delete BEFORE DELETE ON tacit_closings BEGIN SELECT RAISE(ABORT, 'tacit_closings is append-only'); END;
CREATE TRIGGER tacit_entries_no_update BEFORE UPDATE ON tacit_entries BEGIN SELECT RAISE(ABORT, 'tacit_entries is append-only'); END;
CREATE TRIGGER tacit_entries_no_delete BEFORE DELETE ON tacit_entries BEGIN SELECT RAISE(ABORT, 'tacit_entries is append-only'); END;
COMMIT;
