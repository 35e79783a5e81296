// Leases renewed and looked after, reports of handlers, jobs that go, and what has expired.

import { limits } from '../../../core/limits.ts'
import { endLeases } from './settle.ts'
import { judged } from './clock.ts'
import { made } from './made.ts'

const held = (s: string): string => `
  select j.seq, g.n, g.token, g.fence from unnest(p_ids, p_tokens, p_fences)
    with ordinality g (id, token, fence, n)
    join ${s}.jobs j on j.id = g.id and j.token = g.token and j.fence = g.fence order by j.seq`

const renew = (s: string): string =>
  made(s, {
    name: 'renew_1',
    parameters: 'p_ids text[], p_tokens text[], p_fences bigint[], p_until bigint',
    returns: 'table (n bigint, version bigint)',
    body: `
      return query with g as materialized (${held(s)})
        update ${s}.jobs j set until_at = p_until, version = j.version + 1
          from g where j.seq = g.seq and j.token = g.token and j.fence = g.fence
          returning g.n, j.version;`,
  })

/**
 * Jobs whose pause ended and running ones whose lease ended, by number. Renewals write only to the
 * jobs: the records of their claims learn of it here, unless someone is at them.
 */
const lapsed = (s: string): string => {
  const still = `${s}.leases l where l.token = any (array(select k.token from ${s}.leases k
    where k.token = r.token and k.until_at = r.until_at and k.seqs = r.seqs
    for update skip locked))`
  return made(s, {
    name: 'lapsed_1',
    parameters: 'p_now bigint, p_claims int, p_limit int, p_server boolean',
    returns: 'bigint[]',
    declare: `r record; v_until bigint; v_seqs bigint[]; v_all bigint[];
      v_now bigint := ${judged};`,
    body: `
      v_all := array(select m.seq from ${s}.moments m where m.what = 2 and m.at <= v_now
        order by m.at, m.seq limit p_limit);
      for r in select l.token, l.until_at, l.seqs from ${s}.leases l where l.until_at <= v_now
          order by l.until_at limit p_claims loop
        select min(j.until_at), array_agg(j.seq) filter (where j.until_at <= v_now)
          into v_until, v_seqs
          from unnest(r.seqs) g (seq) join ${s}.jobs j on j.seq = g.seq
          where j.token = r.token and j.state = 1;
        if v_until is null then delete from ${still};
        elsif v_until <> r.until_at then
          update ${still.replace(' where', ' set until_at = v_until where')};
        end if;
        v_all := v_all || coalesce(v_seqs, '{}');
      end loop;
      return v_all;`,
  })
}

/** Holds each job it reports about, so that none is settled meanwhile. */
const report = (s: string): string =>
  made(s, {
    name: 'report_1',
    parameters: 'p_reports json, p_now bigint',
    returns: 'boolean[]',
    declare: "r record; v_seq bigint; v_count int; v_results boolean[] := '{}';",
    body: `
      perform 1 from ${s}.jobs j where j.id = any (array(
        select g.id from json_to_recordset(p_reports) g (id text))) order by j.seq
        for no key update;
      for r in select * from json_to_recordset(p_reports) g (id text, token text, fence bigint,
          attempt text, tells boolean, fraction double precision, note text, checkpoint text,
          lines json) loop
        select j.seq into v_seq from ${s}.jobs j
          where j.id = r.id and j.token = r.token and j.fence = r.fence;
        v_results := v_results || (v_seq is not null);
        if v_seq is null then continue; end if;
        if r.tells or r.checkpoint is not null then
          insert into ${s}.progress as p
            values (v_seq, r.attempt, r.fraction, r.note, r.checkpoint, p_now)
            on conflict (job) do update set attempt = excluded.attempt, at = excluded.at,
              fraction = case when r.tells then excluded.fraction
                when p.attempt = excluded.attempt then p.fraction end,
              note = case when r.tells then excluded.note
                when p.attempt = excluded.attempt then p.note end,
              checkpoint = coalesce(excluded.checkpoint, p.checkpoint);
        end if;
        if r.lines is not null then
          v_count := coalesce((select l.n + 1 from ${s}.logs l where l.attempt = r.attempt
            order by l.n desc limit 1), 0);
          insert into ${s}.logs select v_seq, r.attempt, v_count + k.i - 1,
            (k.line ->> 0)::bigint, k.line ->> 1, k.line ->> 2, k.line ->> 3
            from json_array_elements(r.lines) with ordinality k (line, i)
            where v_count + k.i - 1 < ${limits.logLinesPerAttempt};
        end if;
      end loop;
      return v_results;`,
  })

/** Jobs with everything that belongs to them. What they waited for is gone already. */
const drop = (s: string): string =>
  made(s, {
    name: 'drop_1',
    parameters: 'p_seqs bigint[], p_after smallint',
    returns: 'void',
    declare: 'v_ended text[]; v_moved boolean;',
    isInner: true,
    body: `
      delete from ${s}.attempts a where a.job = any (p_seqs);
      delete from ${s}.skips k where k.job = any (p_seqs);
      delete from ${s}.progress p where p.job = any (p_seqs);
      delete from ${s}.logs l where l.job = any (p_seqs);
      delete from ${s}.specs x where x.seq = any (p_seqs);
      with gone as (
        delete from ${s}.jobs j where j.seq = any (p_seqs)
          returning j.share, j.state, j.token
      ), moved as (
        insert into ${s}.deltas select nextval('${s}.deltas_seq'), array_agg(m.share),
          array_agg(m.state), array_agg(p_after), array_agg(m.n)
          from (select share, state, count(*) as n from gone group by share, state) m
          having count(*) > 0
      ) select array_agg(g.token) filter (where g.token is not null), count(*) > 0
        into v_ended, v_moved from gone g;
      ${endLeases(s, 'v_ended')}
      if v_moved then perform ${s}.fold_1(); end if;`,
  })

/** The numbers of those that existed, in the order asked, and null for the others. */
const remove = (s: string): string =>
  made(s, {
    name: 'remove_1',
    parameters: 'p_ids text[], p_records json, p_now bigint',
    returns: 'bigint[]',
    declare: "v_seqs bigint[]; v_there bigint[]; v_waits bigint[]; v_taken bigint[] := '{}';",
    body: `
      -- For the turns it takes: those that conflict are left out one by one.
      if p_records is not null then perform ${s}.records_fit_1(p_records, p_now); end if;
      v_seqs := array(select j.seq from unnest(p_ids) with ordinality g (id, n)
        left join ${s}.jobs j on j.id = g.id order by g.n);
      for i in 1 .. 10 loop
        -- Whoever takes what a job waits for has it; one that is being claimed is met again.
        v_taken := v_taken || ${s}.take_1(v_seqs);
        perform 1 from ${s}.jobs j where j.seq = any (v_seqs) order by j.seq for update;
        v_there := array(select j.seq from ${s}.jobs j where j.seq = any (v_seqs));
        v_waits := array(select j.seq from ${s}.jobs j where j.seq = any (v_seqs)
          and j.seq <> all (v_taken) and case j.state when 0 then j.due_at is not null
            when 1 then false when 2 then j.until_at is not null
            else j.expire_at is not null end);
        exit when cardinality(v_waits) = 0;
      end loop;
      if cardinality(v_waits) > 0 then
        raise exception 'jobs changed while they were removed'
          using errcode = 'serialization_failure';
      end if;
      if cardinality(v_there) > 0 then
        perform ${s}.drop_1(v_there, -1::smallint);
        if p_records is not null then perform ${s}.records_1(p_records, p_now); end if;
      end if;
      return array(select case when g.seq = any (v_there) then g.seq end
        from unnest(v_seqs) with ordinality g (seq, n) order by g.n);`,
  })

export const upkeepFunctions = (s: string): string[] => [
  renew(s),
  lapsed(s),
  report(s),
  drop(s),
  remove(s),
]
