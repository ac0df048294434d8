import * as z from 'zod'
import { ENTITIES } from '#shared/entities.ts'
import type { AnyEntity } from '#shared/table/entity.ts'

type Schema = Record<string, unknown>

/** Stored form of a kind of record. */
export interface Shape {
  pk: string
  sk: string
  /** Indexes that contain it, and whether it expires. */
  places: string[]
  schema: Schema
}

const shapeOf = (entity: AnyEntity): Shape => ({
  pk: entity.pk,
  sk: entity.sk,
  places: (['due', 'directory', 'list', 'expires'] as const).filter((place) => entity[place] !== undefined),
  schema: z.toJSONSchema(entity.schema(), { unrepresentable: 'any', io: 'input' }) as Schema,
})

/** Returns the shapes of all kinds of records, by name. */
export const currentShapes = (): Record<string, Shape> =>
  Object.fromEntries(
    [...ENTITIES].map(([name, entity]) => [name, shapeOf(entity)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

/**
 * Compares the shapes of two versions, which run side by side during a deployment. Records of the older version remain
 * after it.
 * @returns a line for each difference that isn't an addition; none if the new shape only adds to the old one
 */
export const findIncompatibilities = (before: Shape, after: Shape): string[] => [
  ...(before.pk !== after.pk || before.sk !== after.sk ? [`the key was ${before.pk} ${before.sk}`] : []),
  ...after.places.filter((place) => !before.places.includes(place)).map((place) => `${place}: older records lack it`),
  ...before.places.filter((place) => !after.places.includes(place)).map((place) => `${place} was removed`),
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
    const removed = before.enum.filter((value) => !(after.enum as unknown[]).includes(value))
    return removed.map((value) => `${at}: older records may have ${JSON.stringify(value)}`)
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
      .map((field) => `${name(field)}: code of the previous version relies on it`),
    ...needs.filter((field) => !needed.includes(field)).map((field) => `${name(field)}: older records lack it`),
    ...Object.keys(fresh)
      .filter((field) => field in old)
      .flatMap((field) => schemaDifferences(name(field), old[field] as Schema, fresh[field] as Schema)),
  ]
}
