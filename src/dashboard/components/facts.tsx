// Names with their values, one to a line.

import type { ComponentChildren } from 'preact'

export interface Fact {
  readonly name: string
  readonly value: ComponentChildren
  readonly isBad?: boolean
}

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="fact-list">
      {facts.map(({ name, value, isBad }) => (
        <div key={name} class={isBad ? 'bad' : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
