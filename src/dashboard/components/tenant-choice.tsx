// Whose things are shown, for those who see every tenant; the others have only their own.

import { never, useRead } from '../data/read.ts'
import { reads } from '../data/reads.ts'
import { seesEveryTenant } from '../data/session.ts'
import { useView } from './view-state.ts'

interface ChoiceProps {
  /** What stands for no choice; null where one tenant must be chosen. */
  readonly all: string | null
  readonly value: string | null
}

const LISTED = 100

export function TenantChoice({ all, value }: ChoiceProps) {
  const view = useView()
  const { data } = useRead(seesEveryTenant.value ? reads.tenants({ limit: LISTED }) : null, never)
  if (!seesEveryTenant.value) return null
  const names = new Set(data?.tenants.map(({ tenant }) => tenant))
  if (value !== null) names.add(value)
  return (
    <label class="inline-field">
      <span>Tenant</span>
      <select
        class="input"
        value={value ?? ''}
        onChange={event =>
          view.set({ tenant: (event.target as HTMLSelectElement).value, cursor: null })
        }
      >
        {all !== null && <option value="">{all}</option>}
        {[...names].sort().map(name => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Lists of one tenant are those of `default` unless the viewer has one, or names one. */
export function useTenant(): string | null {
  const view = useView()
  return seesEveryTenant.value ? (view.get('tenant') ?? 'default') : null
}
