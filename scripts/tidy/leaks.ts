// Nothing of the machine it was written on: no home folders, no download addresses.

import { problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

const machinePath = /(?<![\w.+~-])\/(?:(?:home|Users)\/\w|(?:root|work|workspace|builds)\/)/
const windowsPath = /\b[A-Z]:\\+Users\\/
const registryHost = /https?:\/\/(?:registry|deb)\./

const checkLine = (file: SourceFile, text: string, line: number): Problem[] => {
  const found: Problem[] = []
  const report = (message: string) => found.push(problem(file, line, 'leaks', message))
  if (machinePath.test(text) || windowsPath.test(text)) report('path of one machine')
  if (registryHost.test(text)) report('address of a package registry')
  if (file.path === 'package-lock.json' && /"resolved": "http/.test(text)) {
    report('download address in the lock: omit-lockfile-registry-resolved belongs in .npmrc')
  }
  return found
}

export const checkLeaks = (tree: Tree): Problem[] =>
  [...tree.values()].flatMap(file =>
    file.lines.flatMap((text, index) => checkLine(file, text, index + 1)),
  )
