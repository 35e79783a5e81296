-- From versions 9, 10 and 11, whose tables are those of the baseline, to the baseline: functions are
-- installed by content from here on, and those that were numbered go. Frozen, as the baseline is.

alter function carillon.listed_1() rename to keep_listed;
do $$
declare
  numbered regprocedure;
begin
  for numbered in select p.oid::regprocedure from pg_proc p
      where p.pronamespace = (select c.relnamespace from pg_class c
          where c.oid = 'carillon.jobs'::regclass) and p.proname ~ '_[0-9]+$' loop
    execute format('drop function %s', numbered);
  end loop;
end $$;
create table carillon.function_sets (name text primary key, used_at bigint not null);
