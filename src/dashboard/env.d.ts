// What plugins add to the service's types, which the compiler cannot see from here.

/// <reference types="@fastify/rate-limit" />
