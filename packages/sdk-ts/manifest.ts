/** The parts of a manifest that types are derived from. */
export interface ManifestLike {
  config?: unknown
  tools?: readonly unknown[]
  runtime?: { resume?: boolean }
}

/** The type that a JSON Schema describes, as far as manifests use JSON Schema. Anything else is `unknown`. */
export type FromSchema<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { type: 'string' }
      ? string
      : S extends { type: 'number' | 'integer' }
        ? number
        : S extends { type: 'boolean' }
          ? boolean
          : S extends { type: 'array'; items: infer I }
            ? FromSchema<I>[]
            : S extends { type: 'object'; properties: infer P; required: readonly (infer R)[] }
              ? { [K in keyof P & R]: FromSchema<P[K]> } & { [K in Exclude<keyof P, R>]?: FromSchema<P[K]> }
              : S extends { type: 'object'; properties: infer P }
                ? { [K in keyof P]?: FromSchema<P[K]> }
                : unknown

/** Values of the settings that the manifest declares in `config`. */
export type SettingsOf<M> = M extends { config: infer C } ? FromSchema<C> : Record<string, unknown>

/** Calls of the tools that the manifest declares, by other agents: the name with its arguments. */
export type CallOf<M> = M extends { tools: readonly (infer T)[] }
  ? T extends { name: infer N; input_schema: infer S }
    ? { name: N; arguments: FromSchema<S> }
    : never
  : { name: string; arguments: Record<string, unknown> }
