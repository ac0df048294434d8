import * as z from 'zod'
import { FATES } from '#shared/domain/removal/fates.ts'
import type { AnyEntity } from '#shared/table/entity.ts'

type Schema = Record<string, unknown>

/** How a kind of record is stored. */
export interface Shape {
  pk: string
  sk: string
  /** The indexes that it has a place in, and whether it vanishes by itself. */
  places: string[]
  schema: Schema
}

const shapeOf = (entity: AnyEntity): Shape => ({
  pk: entity.pk,
  sk: entity.sk,
  places: (['due', 'directory', 'list', 'expires'] as const).filter((place) => entity[place] !== undefined),
  schema: z.toJSONSchema(entity.schema(), { unrepresentable: 'any', io: 'input' }) as Schema,
})

/** Every kind of record, by its name. */
export const currentShapes = (): Record<string, Shape> =>
  Object.fromEntries(
    [...FATES].map(([name, { entity }]) => [name, shapeOf(entity)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

/**
 * What makes the records of two versions unlike, so that one version's code does not understand the other's: both run side by
 * side while a version is deployed, and records of the older one stay.
 *
 * @returns a line for each difference that is more than an addition; none when the new shape only adds to the old one
 */
export const incompatible = (before: Shape, after: Shape): string[] => [
  ...(before.pk !== after.pk || before.sk !== after.sk ? [`the key was ${before.pk} ${before.sk}`] : []),
  ...after.places.filter((place) => !before.places.includes(place)).map((place) => `${place}: older records lack it`),
  ...before.places.filter((place) => !after.places.includes(place)).map((place) => `${place} is gone`),
  ...schemaDifferences('', before.schema, after.schema),
]

const schemaDifferences = (at: string, before: Schema, after: Schema): string[] => {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (before.type !== after.type) return [`${at || 'the record'}: was ${JSON.stringify(before.type ?? before)}`]
  if (after.type === 'object' && before.properties && after.properties) return objectDifferences(at, before, after)
  if (after.type === 'array' && before.items && after.items) {
    return schemaDifferences(`${at}[]`, before.items as Schema, after.items as Schema)
  }
  if (Array.isArray(before.enum) && Array.isArray(after.enum)) {
    const gone = before.enum.filter((value) => !(after.enum as unknown[]).includes(value))
    return gone.map((value) => `${at}: older records may have ${JSON.stringify(value)}`)
  }
  return [`${at || 'the record'}: was ${JSON.stringify(before)}`]
}

const objectDifferences = (at: string, before: Schema, after: Schema): string[] => {
  const [old, fresh] = [before.properties, after.properties] as [Record<string, Schema>, Record<string, Schema>]
  const [needed, needs] = [before.required ?? [], after.required ?? []] as [string[], string[]]
  const name = (field: string) => (at === '' ? field : `${at}.${field}`)
  return [
    ...Object.keys(old)
      .filter((field) => !(field in fresh) || (needed.includes(field) && !needs.includes(field)))
      .map((field) => `${name(field)}: code of the version before relies on it`),
    ...needs.filter((field) => !needed.includes(field)).map((field) => `${name(field)}: older records lack it`),
    ...Object.keys(fresh)
      .filter((field) => field in old)
      .flatMap((field) => schemaDifferences(name(field), old[field] as Schema, fresh[field] as Schema)),
  ]
}
