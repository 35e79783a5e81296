// Limits of hosts as an operator writes them.

import { describe, expect, it } from 'vitest'
import { parseHostLimits } from './host-limits.ts'

describe('limits of hosts', () => {
  const defaults = { connectionsPerHost: 8, connectionsByHost: {} }

  it('are a number for all and numbers of single ones', () => {
    const entries = ['16', 'API.example.com=50', 'b.example:80=1', '[::1]:8080=2']
    expect(parseHostLimits(entries, defaults, 'F')).toEqual({
      limits: {
        connectionsPerHost: 16,
        connectionsByHost: { 'api.example.com': 50, 'b.example': 1, '[::1]:8080': 2 },
      },
      problems: [],
    })
    expect(parseHostLimits([], defaults, 'F').limits).toEqual(defaults)
  })

  it.each(['0', '10001', 'many', 'a.example', 'a.example=', 'a.example=0', 'a b=3', 'a/b=3'])(
    '%s is refused with its value',
    entry => {
      expect(parseHostLimits([entry], defaults, 'F').problems).toMatchObject([
        { field: 'F', value: entry },
      ])
    },
  )
})
