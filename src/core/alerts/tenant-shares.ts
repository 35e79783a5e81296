// Which of many jobs are reported one by one: each tenant has a share, so that one tenant with many
// does not hide the jobs of the others.

export interface ShareLimits {
  /** Reported one by one while a tenant is alone, and shared by several. */
  readonly sharedMax: number
  /** In all: tenants below their share are reported beyond the number above. */
  readonly allMax: number
}

export interface Shared<T> {
  readonly each: readonly T[]
  readonly others: readonly T[]
}

/** `reported` names the tenant of each that is reported already; `fresh` is in order of urgency. */
export function shareOut<T>(
  reported: readonly string[],
  fresh: readonly T[],
  tenantOf: (one: T) => string,
  { sharedMax, allMax }: ShareLimits,
): Shared<T> {
  const counts = new Map<string, number>()
  const add = (tenant: string) => counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  for (const tenant of reported) add(tenant)
  const tenants = new Set([...counts.keys(), ...fresh.map(tenantOf)])
  const share = Math.max(1, Math.floor(sharedMax / tenants.size))
  const chosen = new Set<T>()
  const choose = (max: number, isWanted: (tenant: string) => boolean) => {
    for (const one of fresh) {
      if (reported.length + chosen.size >= max) return
      const tenant = tenantOf(one)
      if (chosen.has(one) || !isWanted(tenant)) continue
      chosen.add(one)
      add(tenant)
    }
  }
  choose(allMax, tenant => (counts.get(tenant) ?? 0) < share)
  // What the shares leave free goes to the most urgent.
  choose(sharedMax, () => true)
  return {
    each: fresh.filter(one => chosen.has(one)),
    others: fresh.filter(one => !chosen.has(one)),
  }
}
