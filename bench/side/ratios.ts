// How Carillon stands in a row: against the best peer, on the same store and on any, and the raw limit.

import type { Figure, Row } from './results.ts'

export const RAW = 'raw statements'

export interface Standing {
  readonly store: string
  /** Above 1 is better than the peer. */
  readonly toBestPeer: { readonly name: string; readonly ratio: number } | null
  readonly toBestAnywhere: { readonly name: string; readonly ratio: number } | null
  readonly shareOfRaw: number | null
}

export function standings(row: Row): Standing[] {
  const { figures, lowerIsBetter } = row
  const better = (a: Figure, b: Figure) => (a.median < b.median === lowerIsBetter ? a : b)
  const times = (own: Figure, other: Figure) =>
    lowerIsBetter ? other.median / own.median : own.median / other.median
  const peers = figures.filter(({ contender }) => contender !== 'carillon' && contender !== RAW)
  // What keeps nothing is shown, but is no measure for what does.
  const lasting = peers.filter(({ store }) => store !== 'memory')
  const against = (own: Figure, among: readonly Figure[]) => {
    if (among.length === 0) return null
    const best = among.reduce(better)
    return { name: `${best.contender} on ${best.store}`, ratio: times(own, best) }
  }
  return figures
    .filter(({ contender }) => contender === 'carillon')
    .map(own => {
      const raw = figures.find(({ contender, store }) => contender === RAW && store === own.store)
      const same = peers.filter(({ store }) => store === own.store)
      return {
        store: own.store,
        toBestPeer: against(own, same),
        toBestAnywhere: against(own, own.store === 'memory' ? peers : lasting),
        shareOfRaw: raw ? own.median / raw.median : null,
      }
    })
}

export function compared(row: Row): string[] {
  return standings(row).flatMap(({ store, toBestPeer, toBestAnywhere, shareOfRaw }) => {
    const parts = [
      toBestPeer && `${toBestPeer.ratio.toFixed(2)} × ${toBestPeer.name}`,
      toBestAnywhere &&
        toBestAnywhere.name !== toBestPeer?.name &&
        `${toBestAnywhere.ratio.toFixed(2)} × ${toBestAnywhere.name}`,
      shareOfRaw !== null && `${Math.round(shareOfRaw * 100)} % of raw statements`,
    ].filter(Boolean)
    return parts.length > 0 ? [`carillon on ${store}: ${parts.join(', ')}`] : []
  })
}
