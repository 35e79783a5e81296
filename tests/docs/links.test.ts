import { existsSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { allPages, page, prose, root, type Page } from './pages.ts'

const pages = allPages()

interface Link {
  readonly from: string
  readonly target: string
}

function links({ path, text }: Page): Link[] {
  const found = prose(text).matchAll(/\]\(([^)\s]+)\)/g)
  return [...found].map(match => ({ from: path, target: match[1]! }))
}

/** As GitHub makes them: lower case, punctuation dropped, blanks to dashes. */
function anchors(text: string): string[] {
  const headings = [...prose(text).matchAll(/^#+ (.+)$/gm)].map(match => match[1]!)
  return headings.map(heading =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/ /g, '-'),
  )
}

function fault({ from, target }: Link): string | null {
  if (/^[a-z]+:/.test(target)) return null
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? from : posix.join(dirname(from), file)
  const full = join(root, path)
  if (!existsSync(full)) return `${from}: ${target} does not exist`
  if (anchor === undefined) return null
  if (statSync(full).isDirectory()) return `${from}: ${target} is a folder`
  return anchors(page(path).text).includes(anchor) ? null : `${from}: no heading for ${target}`
}

test('every link inside the repository leads somewhere', () => {
  const all = pages.flatMap(links)
  expect(all.length).toBeGreaterThan(50)
  expect(all.map(fault).filter(one => one !== null)).toEqual([])
})

test('every page of the documentation can be reached from its index', () => {
  const reached = new Set<string>()
  const open = ['README.md']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const { target } of links(page(path))) {
      if (/^[a-z]+:|^#/.test(target)) continue
      const next = posix.join(dirname(path), target.split('#')[0]!)
      if (next.endsWith('.md')) open.push(next)
    }
  }
  expect(pages.map(({ path }) => path).filter(path => !reached.has(path))).toEqual([])
})

test('no page speaks of a machine, and no link is insecure', () => {
  const strange = pages.filter(({ text }) => /http:\/\/|\/home\/|\/Users\/|localhost/.test(text))
  expect(strange.map(({ path }) => path)).toEqual([])
})
