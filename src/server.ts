// `carillon/server`: the HTTP service as a library. It is what the package carillon-service exports.

import './node-version.ts'
import type * as Service from 'carillon-service'

export type {
  App,
  AppParts,
  AuthOptions,
  Grant,
  HttpLogger,
  HttpSettings,
  Principal,
  ProblemSlug,
  Role,
  Routes,
  TokenKey,
  TokenRules,
} from 'carillon-service'

async function loadService(): Promise<typeof Service> {
  try {
    return await import('carillon-service')
  } catch (error) {
    // What it needs itself may be missing too: that error names the package already.
    if (!String(error).includes("'carillon-service'")) throw error
    const hint = 'carillon/server needs the package carillon-service: npm install carillon-service'
    throw new Error(hint, { cause: error })
  }
}

const service = await loadService()

export const createApp: typeof Service.createApp = service.createApp
export const problemTypes: typeof Service.problemTypes = service.problemTypes
export const httpDefaults: typeof Service.httpDefaults = service.httpDefaults
export const httpSettings: typeof Service.httpSettings = service.httpSettings
export const Authenticator: typeof Service.Authenticator = service.Authenticator
export type Authenticator = Service.Authenticator
export const LIFETIME_MAX_MS: typeof Service.LIFETIME_MAX_MS = service.LIFETIME_MAX_MS
export const EVERY_TENANT: typeof Service.EVERY_TENANT = service.EVERY_TENANT
export const roles: typeof Service.roles = service.roles
export const mint: typeof Service.mint = service.mint
