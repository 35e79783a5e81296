// Code blocks as programs: a marker after the language says what is done with them.
// `run` executes, `check` only type-checks, `more` goes on where the block before it ended, and `file`
// is a file of an example that `tests/first-month` runs from the packed package.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, type Block, type Page } from './pages.ts'

export interface Program {
  readonly name: string
  readonly code: string
  readonly isRun: boolean
  /** The lines it prints, where the page shows them. */
  readonly output: string | null
}

const sources: Readonly<Record<string, string>> = {
  carillon: '../../src/index.ts',
  'carillon/cron': '../../src/cron/index.ts',
  'carillon/client': '../../src/client/index.ts',
  'carillon/testing': '../../src/testing/index.ts',
  'carillon/worker': '../../src/worker/index.ts',
}

const isCode = (block: Block): boolean => /^(?:ts|js|typescript|javascript|mjs)\b/.test(block.info)

/** Blocks of code that say neither what to do with them nor that they go on. */
export function unmarked({ path, blocks }: Page): string[] {
  return blocks
    .filter(
      block =>
        isCode(block) &&
        !/^(?:(?:ts|js) (?:run|check)(?: more)?|js file [\w.-]+)$/.test(block.info),
    )
    .map(block => `${path}:${block.line}`)
}

export function programsOf({ path, blocks }: Page): Program[] {
  const programs: { -readonly [K in keyof Program]: Program[K] }[] = []
  for (const block of blocks) {
    const last = programs.at(-1)
    const [language, does, more] = block.info.split(' ')
    if (does === 'file') continue
    if (language === 'text' && does === 'output' && last) {
      last.output = (last.output ?? '') + block.code
    } else if (isCode(block) && more === 'more' && last) {
      last.code += withSources(block.code)
      last.isRun ||= does === 'run'
    } else if (isCode(block)) {
      const name = `${path}:${block.line}`
      programs.push({
        name,
        code: withSources(block.code),
        isRun: does === 'run',
        output: null,
      })
    }
  }
  return programs
}

function withSources(code: string): string {
  return code.replace(/from '([^']+)'/g, (whole, name: string) =>
    Object.hasOwn(sources, name) ? `from '${sources[name]}'` : whole,
  )
}

export interface Written {
  readonly folder: string
  readonly files: readonly string[]
  readonly remove: () => void
}

/** Programs as files two folders below the root, where their sources are and packages resolve. */
export function write(programs: readonly Program[]): Written {
  mkdirSync(join(root, 'tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, 'tmp', 'docs-'))
  const files = programs.map(({ name, code }) => {
    const file = join(folder, `${name.replace(/\W+/g, '-')}.ts`)
    // The export makes a module of a program that has no import.
    writeFileSync(file, `${code}export {}\n`)
    return file
  })
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return { folder, files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
