// The files under inspection, as plain data: checks take a tree and never touch the disk.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { maskCode } from './mask.ts'

export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
  /** The text with comments and literals blanked out; offsets and lines stay the same. */
  readonly code: string
}

export type Tree = ReadonlyMap<string, SourceFile>

export interface Problem {
  readonly path: string
  readonly line: number
  readonly rule: string
  readonly message: string
  /** A warning is printed but does not fail the run. */
  readonly level: 'error' | 'warning'
}

export type Check = (tree: Tree) => Problem[]

const largestFileBytes = 2_000_000

const makeFile = (path: string, text: string): SourceFile => {
  let masked: string | undefined
  return {
    path,
    text,
    lines: text.replace(/\n$/, '').split('\n'),
    get code() {
      masked ??= maskCode(text)
      return masked
    },
  }
}

/** Builds a tree from path → text; the tests of the checks use it directly. */
export const makeTree = (files: Readonly<Record<string, string>>): Tree =>
  new Map(Object.entries(files).map(([path, text]) => [path, makeFile(path, text)]))

/** Reads every file git tracks, or would track, below `root`. Binary files are left out. */
export const readTree = (root: string): Tree => {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0')
  const files: Record<string, string> = {}
  for (const path of [...new Set(listed)].toSorted()) {
    const full = join(root, path)
    if (path === '' || !existsSync(full)) continue
    const stats = statSync(full)
    if (!stats.isFile() || stats.size > largestFileBytes) continue
    const text = readFileSync(full, 'utf8')
    if (!text.includes('\0')) files[path] = text
  }
  return makeTree(files)
}

export const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

const codeFolders = /^(?:src|tests|scripts|bench)\/.*\.tsx?$/

/** The TypeScript files the style checks look at. */
export const codeFiles = (tree: Tree): SourceFile[] =>
  [...tree.values()].filter(file => codeFolders.test(file.path))

/** Style sheets of the dashboard. */
export const styleFiles = (tree: Tree): SourceFile[] =>
  [...tree.values()].filter(({ path }) => /^src\/.*\.css$/.test(path))

export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path)

export const problem = (
  file: SourceFile,
  line: number,
  rule: string,
  message: string,
): Problem => ({ path: file.path, line, rule, message, level: 'error' })
