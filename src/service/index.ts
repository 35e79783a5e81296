// `carillon-service` and `carillon/server`: the HTTP service as a library, for programs that bring their own
// engine.

import '../node-version.ts'

export { createApp } from './http/app/app.ts'
export type { App, AppParts, HttpLogger, Routes } from './http/app/parts.ts'
export { problemTypes, type ProblemSlug } from './use-cases/call/problem.ts'
export { httpDefaults, httpSettings, type HttpSettings } from './http/app/settings.ts'
export { Authenticator, LIFETIME_MAX_MS, type AuthOptions } from './auth/authenticator.ts'
export { EVERY_TENANT, roles, type Principal, type Role } from './auth/principal.ts'
export { mint, type Grant, type TokenKey, type TokenRules } from './auth/tokens.ts'
