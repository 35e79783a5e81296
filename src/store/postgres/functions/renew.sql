-- Extends leases whose token and fence match.

create function carillon.renew(p_ids text[], p_tokens text[], p_fences bigint[], p_until bigint)
returns table (n bigint, version bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query with g as materialized (
      select j.seq, g.n, g.token, g.fence from unnest(p_ids, p_tokens, p_fences)
      with ordinality g (id, token, fence, n)
      join carillon.jobs j on j.id = g.id and j.token = g.token and j.fence = g.fence
          order by j.seq)
    update carillon.jobs j set until_at = p_until, version = j.version + 1
    from g where j.seq = g.seq and j.token = g.token and j.fence = g.fence
    returning g.n, j.version;
end $$;
