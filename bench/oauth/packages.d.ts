/** As much of oidc-provider as the benchmark uses; the package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface Stored {
    save(): Promise<string>
  }
  interface Grant extends Stored {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
  }
  type Model<T extends Stored> = new (fields: Record<string, unknown>) => T

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): RequestListener
    readonly Client: { find(id: string): Promise<object | undefined> }
    readonly Grant: Model<Grant>
    readonly AuthorizationCode: Model<Stored>
    readonly RefreshToken: Model<Stored>
    readonly AccessToken: Model<Stored>
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  export default class MemoryAdapter {
    constructor(model: string)
    find(id: string): Promise<object | undefined>
    upsert(id: string, payload: object, expiresIn: number): Promise<void>
    consume(id: string): Promise<void>
    destroy(id: string): Promise<void>
    revokeByGrantId(grantId: string): Promise<void>
  }
}
