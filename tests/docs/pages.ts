// The pages of the documentation as data: their lines, code blocks and tables.

import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Page {
  /** From the root, with slashes. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

export interface Block {
  /** Everything behind the opening fence, such as `ts run`. */
  readonly info: string
  readonly code: string
  readonly line: number
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function page(path: string): Page {
  const text = readText(path)
  return { path, text, blocks: blocksOf(text) }
}

/** The root's own pages and everything below docs. */
export function allPages(): Page[] {
  const top = readdirSync(root).filter(name => name.endsWith('.md'))
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name.split(sep).join('/')}`)
  return [...top, ...below].sort().map(page)
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let open: { info: string; line: number; lines: string[] } | null = null
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line)
    if (!fence) open?.lines.push(line)
    else if (open) {
      blocks.push({ info: open.info, line: open.line, code: `${open.lines.join('\n')}\n` })
      open = null
    } else open = { info: fence[1]!.trim(), line: index + 1, lines: [] }
  }
  return blocks
}

/** The text without its code blocks, line numbers kept. */
export function prose(text: string): string {
  let isCode = false
  return text
    .split('\n')
    .map(line => {
      const isFence = line.startsWith('```')
      if (isFence) isCode = !isCode
      return isFence || isCode ? '' : line
    })
    .join('\n')
}

/** The rows of the first table behind a heading, as cells, without its header. */
export function tableUnder(text: string, heading: string): string[][] {
  const lines = prose(text).split('\n')
  const at = lines.findIndex(line => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (at < 0) throw new Error(`there is no heading "${heading}"`)
  const start = lines.findIndex((line, index) => index > at && line.startsWith('|'))
  const rows: string[][] = []
  for (let index = start; lines[index]?.startsWith('|'); index++) rows.push(cells(lines[index]!))
  return rows.slice(2)
}

function cells(row: string): string[] {
  return row
    .slice(1, row.lastIndexOf('|'))
    .split('|')
    .map(cell => cell.trim())
}

/** The names in backticks of a cell. */
export function names(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1]!)
}
