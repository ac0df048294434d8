import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { BUNDLES } from '#local/prepare.ts'
import type { Sources } from './profile.ts'

/** Folder of the source maps, next to the bundles and not deployed. */
const MAPS = path.join(BUNDLES, '..', 'maps')

/** Finds sources of places in the built functions, with the bundler's source maps. */
export const bundleSources = (): Sources => {
  const maps = new Map<string, SourceMap | undefined>()
  const mapOf = (name: string): SourceMap | undefined => {
    if (!maps.has(name)) {
      maps.set(name, new SourceMap(JSON.parse(readFileSync(path.join(MAPS, `${name}.cjs.map`), 'utf8'))))
    }
    return maps.get(name)
  }
  return ({ url, line, column }) => {
    const name = /\/dist\/functions\/([^/]+)\/index\.cjs$/.exec(url)?.[1]
    if (!name) return undefined
    const entry = mapOf(name)?.findEntry(line, column)
    return entry && 'originalSource' in entry ? entry.originalSource : undefined
  }
}
