// What the tests of the first month use: the packed package in real processes, with default options.

export { cliPath, project, workFolder } from './project.ts'
export {
  runCli,
  runProgram,
  startCli,
  startProgram,
  type Ended,
  type Program,
  type ProgramOptions,
} from './program.ts'
export { signToken, startService, type Answer, type Service } from './service.ts'
export { freshStore, type StoreKind } from './store.ts'
export { eventually } from '../../support/servers/wait.ts'
