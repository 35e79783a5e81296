// What a robots.txt allows, compared with another implementation; and that no file takes long to apply.

import { createRequire } from 'node:module'
import { property, assert, array, constantFrom, string, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../runtime/clock.ts'
import type { Steps } from '../slices.ts'
import { parseRobots, ROBOTS_BYTES_MAX } from './robots-rules.ts'

interface Robots {
  isAllowed(url: string, agent: string): boolean | undefined
  getCrawlDelay(agent: string): number | undefined
}
const otherParser = createRequire(import.meta.url)('robots-parser') as (
  url: string,
  text: string,
) => Robots

const ORIGIN = 'https://example.com'

function whole<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

const allows = (text: string, path: string) =>
  whole(whole(parseRobots(text, 'carillon')).allows(path))

describe('rules of a robots.txt', () => {
  it.each([
    ['', '/x', true],
    ['User-agent: *\nDisallow: /', '/x', false],
    ['User-agent: *\nDisallow: /\n\nUser-agent: Carillon/2.0\nDisallow: /b', '/x', true],
    ['User-agent: *\nDisallow: /\nUser-agent: carillon\nDisallow:', '/x', true],
    ['User-agent: a\nUser-agent: CARILLON # us\nDisallow: /x', '/x/y', false],
    ['User-agent: *\nDisallow: /x\nAllow: /x/y', '/x/y', true],
    ['User-agent: *\nDisallow: /x\nAllow: /x', '/x', true],
    ['User-agent: *\nDisallow: /\nUser-agent: carillon', '/x', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/a.pdf', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/a.pdf?x', true],
    ['User-agent: *\nDisallow: /a$', '/ab', true],
    ['User-agent: *\nDisallow: *ab*ab$', '/ab', true],
    ['User-agent: *\nDisallow: *ab*ab$', '/xabab', false],
    ['User-agent: *\nDisallow: /caf%c3%a9', '/caf%C3%A9/x', false],
    ['User-agent: *\nDisallow: /café', '/caf%C3%A9/x', false],
    [
      'User-agent: carillon\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: carillon\nDisallow: /c',
      '/c',
      false,
    ],
    ['User-agent: *\nDisallow: **\nAllow: /', '/', false],
  ])('%j about %s: %s', (text, path, isAllowed) => {
    expect(allows(text, path)).toBe(isAllowed)
    expect(otherParser(`${ORIGIN}/robots.txt`, text).isAllowed(ORIGIN + path, 'carillon')).toBe(
      isAllowed,
    )
  })

  it('are those another implementation finds, whatever the patterns', () => {
    const pattern = array(constantFrom('/', 'a', 'b', '*', '$', '%2f', '?', 'é'), { maxLength: 7 })
    const line = tuple(constantFrom('Allow', 'Disallow'), pattern)
    const agent = constantFrom('User-agent: *', 'User-agent: carillon', 'User-agent: other')
    const group = tuple(agent, array(line, { maxLength: 6 }))
    const path = string({ unit: constantFrom('/', 'a', 'b', '%2F', '?', '%C3%A9'), maxLength: 8 })
    assert(
      property(array(group, { maxLength: 3 }), path, (groups, rest) => {
        const text = groups
          .flatMap(([name, lines]) => [name, ...lines.map(([kind, p]) => `${kind}: ${p.join('')}`)])
          .join('\n')
        const url = `${ORIGIN}/${rest}`
        const { pathname, search } = new URL(url)
        const expected = otherParser(`${ORIGIN}/robots.txt`, text).isAllowed(url, 'carillon')
        expect([text, allows(text, pathname + search)]).toEqual([text, expected])
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives the delay of the group that counts', () => {
    const text = 'User-agent: *\nCrawl-delay: 3\n\nUser-agent: carillon\nCrawl-delay: 1.5'
    expect(whole(parseRobots(text, 'carillon')).delaySeconds).toBe(1.5)
    expect(whole(parseRobots(text, 'other')).delaySeconds).toBe(3)
    expect(whole(parseRobots('', 'carillon')).delaySeconds).toBe(0)
  })
})

describe('S4: a robots.txt made to be slow', () => {
  const lines = (pattern: string) => {
    const line = `Disallow: ${pattern}\n`
    return `User-agent: *\n${line.repeat(Math.floor(ROBOTS_BYTES_MAX / line.length))}`
  }
  const files = {
    'wildcards between equal letters': [lines(`/${'*a'.repeat(40)}*b`), `/${'a'.repeat(1_900)}`],
    'many short patterns': [lines('*ab'), `/${'a'.repeat(1_900)}`],
    'parts that nearly fit': [lines(`*${'b'.padEnd(200, 'a')}`), `/${'a'.repeat(1_900)}`],
    'very long patterns': [lines(`/${'*a'.repeat(50_000)}`), `/${'a'.repeat(1_900)}`],
    'one pattern of letters to be escaped': [
      `User-agent: *\nDisallow: /${'é'.repeat(240_000)}`,
      '/x',
    ],
    'one rule of stars': [lines('*'.repeat(500_000)), '/x'],
    'empty lines': ['\n'.repeat(ROBOTS_BYTES_MAX), '/x'],
  } as const

  it('a pattern longer than any path is not kept, and the others count', () => {
    const longest = `/${'a*'.repeat(2_047)}a$`
    const rules = (pattern: string) =>
      whole(parseRobots(`User-agent: *\nDisallow: ${pattern}\nDisallow: /b`, 'carillon'))
    const asked = (pattern: string, path: string) => whole(rules(pattern).allows(path))
    expect(asked(longest, `/${'a'.repeat(2_047)}a`)).toBe(false)
    expect(asked('/' + 'a'.repeat(5_000), `/${'a'.repeat(2_047)}`)).toBe(true)
    expect(asked('/' + 'a'.repeat(5_000), '/b')).toBe(false)
    expect(asked(`/${'*'.repeat(100_000)}c`, '/xc')).toBe(false)
  })

  it.each(Object.entries(files))('%s: no step of it takes long', (name, [text, path]) => {
    const longest = { parse: 0, ask: 0, total: 0 }
    const timed = <T>(steps: Steps<T>, part: 'parse' | 'ask'): T => {
      for (;;) {
        const before = systemClock.monotonic()
        const { done, value } = steps.next()
        const took = systemClock.monotonic() - before
        longest[part] = Math.max(longest[part], took)
        longest.total += took
        if (done === true) return value
      }
    }
    timed(timed(parseRobots(text, 'carillon'), 'parse').allows(path), 'ask')
    const shown = Object.entries(longest).map(([part, ms]) => `${part} ${ms.toFixed(1)} ms`)
    process.stdout.write(`robots.txt, ${name}: ${shown.join(', ')}\n`)
    // Only to notice what is not linear: one that is takes minutes, whatever the machine does beside.
    expect(longest.parse).toBeLessThan(5_000)
    expect(longest.ask).toBeLessThan(2_000)
  })
})
