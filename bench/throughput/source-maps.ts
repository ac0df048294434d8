import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { BUNDLES } from '#local/prepare.ts'
import type { Sources } from './profile.ts'

/** Folder of the source maps, next to the bundles and not deployed. */
const MAPS = path.join(BUNDLES, '..', 'maps', 'functions')

/** Finds sources of places in the built functions, with the bundler's source maps. */
export const bundleSources = (): Sources => {
  const maps = new Map<string, SourceMap | undefined>()
  const mapOf = (file: string): SourceMap | undefined => {
    if (!maps.has(file)) {
      maps.set(file, new SourceMap(JSON.parse(readFileSync(path.join(MAPS, `${file}.map`), 'utf8'))))
    }
    return maps.get(file)
  }
  return ({ url, line, column }) => {
    const file = /\/dist\/functions\/([^/]+\/[^/]+\.cjs)$/.exec(url)?.[1]
    if (!file) return undefined
    const entry = mapOf(file)?.findEntry(line, column)
    return entry && 'originalSource' in entry ? entry.originalSource : undefined
  }
}
