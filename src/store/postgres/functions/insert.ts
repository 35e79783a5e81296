// New jobs, many at once, idempotent by id. Ids are given once per call.

import { fromDocuments, writtenOut } from '../arrays.ts'
import { markOf } from '../../shared/marks.ts'
import { made } from './made.ts'

export const insertFields = [
  ['ids', 'text'],
  ['series', 'text'],
  ['kinds', 'smallint'],
  ['shares', 'int'],
  ['lines', 'int'],
  ['lanes', 'text'],
  ['states', 'smallint'],
  ['whats', 'smallint'],
  ['ats', 'bigint'],
  ['ranks', 'bigint'],
  ['untils', 'bigint'],
  ['expires', 'bigint'],
  ['attempts', 'bigint'],
  ['fences', 'bigint'],
  ['versions', 'bigint'],
  ['tokens', 'text'],
  ['owners', 'text'],
  ['attempt_ids', 'text'],
  ['claims', 'bigint'],
  ['apps', 'text'],
  ['definitions', 'text'],
  ['births', 'bigint'],
  ['kept', 'bigint'],
  ['sought_ids', 'text'],
  ['sought_names', 'text'],
] as const

export const insertParameters = `${insertFields
  .map(([name, type]) => `p_${name} ${type}[]`)
  .join(', ')}, p_bodies text, p_specs text, p_declared text`
export const insertArguments = [
  ...insertFields.map(([name]) => name),
  'bodies',
  'specs',
  'declared',
]

/**
 * The lists row by row, with the numbers given. By position: parts of a list are found at once in a
 * function, while `unnest` writes a table of its own for each of them.
 */
const columns = (named: string): string => {
  const documents = ['bodies', 'specs', 'declared']
  const names = named.split(' ')
  return names.map(name => `${documents.includes(name) ? 'v' : 'p'}_${name}[i]`).join(', ')
}
const rows = 'from generate_subscripts(v_seqs, 1) i where v_seqs[i] is not null'

/** What a job is listed by, as the trigger on `jobs` keeps it from then on. */
const listing = (s: string): string => `
  insert into ${s}.listed select v_seqs[i], p_shares[i], ${markOf('g.')}
    from generate_subscripts(v_seqs, 1) i, lateral (select p_states[i], v_bodies[i]) g (state, body)
    where v_seqs[i] is not null and p_kinds[i] = 0;`

/** Given for every job: what counts jobs looks at them too. */
const whole: readonly string[] = ['ids', 'states']

/** Of many jobs each of these may hold a single value. */
const alike = [
  ...insertFields.filter(([name]) => !whole.includes(name)).map(([name]) => `p_${name}`),
  'v_bodies',
  'v_specs',
  'v_declared',
]

interface Form {
  readonly isListed: boolean
  readonly isAlike: boolean
}

/** Takes the jobs whose `p_keeps` is true and gives their numbers, null for the others. */
export const insertFunction = (s: string, { isListed, isAlike }: Form): string =>
  made(s, {
    name: 'add_1',
    parameters: `p_keeps boolean[], ${insertParameters}`,
    returns: 'bigint[]',
    declare: `v_count int := cardinality(p_ids); v_seqs bigint[];
      v_bodies text[] := ${fromDocuments('p_bodies')};
      v_specs text[] := ${fromDocuments('p_specs')};
      v_declared text[] := ${fromDocuments('p_declared')};`,
    isInner: true,
    body: `
      ${isAlike ? `if v_count > 1 then ${writtenOut(alike, 'v_count')} end if;` : ''}
      v_seqs := array(select case when k.keeps then nextval('${s}.jobs_seq') end
        from unnest(p_keeps) k (keeps));
      insert into ${s}.jobs
        select v_seqs[i], ${columns('ids series kinds shares lines lanes versions states')},
          case when p_whats[i] < 2 then p_ats[i] end,
          ${columns('ranks untils expires attempts fences versions bodies')},
          ${columns('tokens owners attempt_ids claims')}
        ${rows};
      insert into ${s}.specs
        select v_seqs[i], p_versions[i], v_specs[i], nullif(v_declared[i], ''),
          ${columns('apps definitions births kept sought_ids sought_names')}
        ${rows};
      insert into ${s}.moments select v_seqs[i], ${columns('lines whats ats ranks lanes')}
        ${rows} and p_whats[i] is not null;
      ${isListed ? `if 0 = any (p_kinds) then ${listing(s)} end if;` : ''}
      if cardinality(p_tokens) > 0 then
        insert into ${s}.leases as l
          select p_tokens[i], min(p_untils[i]), count(*), array_agg(v_seqs[i])
          ${rows} and p_tokens[i] is not null group by 1
          on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
            open = l.open + excluded.open, seqs = l.seqs || excluded.seqs;
      end if;
      insert into ${s}.deltas select nextval('${s}.deltas_seq'), array_agg(m.share),
        array_agg(-1), array_agg(m.state), array_agg(m.n) from (
          select p_shares[i] as share, p_states[i] as state, count(*) as n ${rows} group by 1, 2
        ) m having count(*) > 0;
      if found then perform ${s}.fold_1(); end if;
      return v_seqs;`,
  })

const takeAll = (s: string, keeps: string): string =>
  `v_seqs := ${s}.add_1(${keeps}, ${insertArguments.map(name => `p_${name}`).join(', ')});`

/**
 * Many at once nearly always are new: they are put in as if they were, which costs less than to look
 * each of them up. If one is not, it is as if nothing had been tried.
 */
const MANY = 20
const tryAll = (s: string): string => `
  if p_max is null and cardinality(p_ids) > ${MANY} then
    begin
      ${takeAll(s, 'array_fill(true, array[cardinality(p_ids)])')}
      if p_records is not null then perform ${s}.records_put_1(p_records, p_now); end if;
      return v_seqs;
    exception when unique_violation then v_seqs := null;
    end;
  end if;`

/** The number of each that was inserted, or 0 exists, -1 full, -2 a record conflicts. */
export const insertCall = (s: string, { isAlike }: Pick<Form, 'isAlike'>): string =>
  made(s, {
    name: 'insert_1',
    parameters: `${insertParameters}, p_queue_at int[], p_queues text[], p_max bigint,
      p_records json, p_now bigint`,
    returns: 'bigint[]',
    declare: 'v_results smallint[]; v_seqs bigint[]; v_room bigint[]; v_at int;',
    body: `
      if p_records is not null and not ${s}.records_fit_1(p_records, p_now) then
        return array_fill(-2::bigint, array[cardinality(p_ids)]);
      end if;
      if p_max is not null then v_room := ${s}.room_1(p_queues, p_max); end if;
      ${isAlike ? tryAll(s) : ''}
      if exists (select 1 from ${s}.jobs j where j.id = any (p_ids)) then
        v_results := array(select case when j.id is null then 1 else 0 end
          from unnest(p_ids) with ordinality g (id, n) left join ${s}.jobs j on j.id = g.id
          order by g.n);
      else v_results := array_fill(1::smallint, array[cardinality(p_ids)]); end if;
      if p_max is not null then
        for i in 1 .. cardinality(p_ids) loop
          v_at := p_queue_at[i];
          if v_results[i] = 1 and p_states[i] = 0 then
            if v_room[v_at] > 0 then v_room[v_at] := v_room[v_at] - 1;
            else v_results[i] := -1; end if;
          end if;
        end loop;
      end if;
      if 1 = any (v_results) then
        ${takeAll(s, 'array(select r = 1 from unnest(v_results) r)')}
      end if;
      if p_records is not null and v_seqs is not null then
        perform ${s}.records_put_1(p_records, p_now);
      end if;
      return array(select coalesce(v_seqs[r.n], r.result)
        from unnest(v_results) with ordinality r (result, n) order by r.n);`,
  })
