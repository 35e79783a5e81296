// Packs both packages once for the whole suite and installs them in an empty project, as a user of the
// service would have them. CARILLON_TARBALL names other tarballs, separated by commas: those of an older
// commit, to see a test fail on it.

import { join } from 'node:path'
import { packageNames } from '../../../scripts/packages.ts'
import { installTarballs, packPackages } from '../../packaging/package.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { PROJECT_VARIABLE } from './project.ts'

/** What users install beside Carillon: drivers, and the schema library of the examples. */
const COMPANIONS = ['pg', '@redis/client', 'zod']

function packedTarballs(folder: string): readonly string[] {
  const packed = packPackages(folder)
  return packageNames.map(name => packed[name].tarball)
}

export default async function setup(): Promise<() => Promise<void>> {
  const { folder, remove } = await scratch('first-month')
  const given = process.env['CARILLON_TARBALL']
  const project = join(folder, 'project')
  installTarballs(project, given ? given.split(',') : packedTarballs(folder), COMPANIONS)
  process.env[PROJECT_VARIABLE] = project
  return remove
}
