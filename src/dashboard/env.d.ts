// What plugins add to the service's types, which the compiler cannot see from here.

/// <reference types="@fastify/rate-limit" />

/** Made by the build from the schemas of the service; see scripts/build/form-shapes.ts. */
declare module 'virtual:form-shapes' {
  export const jobShape: import('./forms/shape.ts').Group
  export const sourceShape: import('./forms/shape.ts').Group
  export const workflowShape: import('./forms/shape.ts').Group
}
