-- A role that can read CrowdResolve's views and nothing else: for dashboards and for people.
--
--   psql "$ADMIN_URL" -f deploy/reader.sql
--   psql "$ADMIN_URL" -c "CREATE ROLE dashboard LOGIN PASSWORD '...' IN ROLE crowdresolve_reader"
--
-- Run it as the owner of the tables, with the right to create roles, in the database of CrowdResolve.
-- Safe to run again, and needed after each `crowdresolve db upgrade`: a view that is made anew has lost its
-- grants.

DO $$
DECLARE
    view_name text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'crowdresolve_reader') THEN
        CREATE ROLE crowdresolve_reader NOLOGIN;
    END IF;

    EXECUTE format('GRANT CONNECT ON DATABASE %I TO crowdresolve_reader', current_database());
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO crowdresolve_reader', current_schema());

    -- Before PostgreSQL 15 everybody may make tables in `public`.
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', current_schema());

    -- A view reads its tables with its owner's rights: the reader needs none on them.
    FOREACH view_name IN ARRAY ARRAY[
        'calibration',
        'cluster_confusion',
        'event_accounting',
        'project_progress',
        'reconciliation_runs',
        'task_labels',
        'worker_confusion',
        'worker_quality',
        'worker_quality_history'
    ] LOOP
        IF to_regclass(view_name) IS NULL THEN
            RAISE NOTICE 'no view % in this release', view_name;
        ELSE
            EXECUTE format('GRANT SELECT ON %I TO crowdresolve_reader', view_name);
        END IF;
    END LOOP;
END
$$;
