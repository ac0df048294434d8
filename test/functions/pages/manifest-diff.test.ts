import { describe, expect, it } from 'vitest'
import { diffManifests } from '#web/ui/manifest-diff.ts'

const manifest = (fields: object) => ({ id: 'vendor.agent', version: '1.0.0', ...fields })

describe('the difference between two manifests', () => {
  it('is empty for equal manifests, regardless of key order', () => {
    expect(diffManifests(manifest({ tools: [] }), { tools: [], ...manifest({}) })).toEqual([])
  })

  it('names each added, removed and changed value', () => {
    const before = manifest({ summary: 'Old', runtime: { type: 'webhook', endpoint: 'https://a.example.com' } })
    const after = manifest({ name: 'New', runtime: { type: 'webhook', endpoint: 'https://b.example.com' } })
    expect(diffManifests(before, after)).toEqual([
      { place: 'name', after: 'New' },
      { place: 'runtime › endpoint', before: 'https://a.example.com', after: 'https://b.example.com' },
      { place: 'summary', before: 'Old' },
    ])
  })

  it('shows a scope that was prepended as the only addition', () => {
    expect(diffManifests({ scopes: ['runs:write'] }, { scopes: ['tools:invoke', 'runs:write'] })).toEqual([
      { place: 'scopes › "tools:invoke"', after: 'tools:invoke' },
    ])
  })

  it('matches tools by name, in any order', () => {
    const [search, send] = [
      { name: 'search', description: 'Searches.' },
      { name: 'send', description: 'Sends.' },
    ]
    expect(diffManifests({ tools: [search, send] }, { tools: [send, { ...search, description: 'Finds.' }] })).toEqual([
      { place: 'tools › search › description', before: 'Searches.', after: 'Finds.' },
    ])
  })

  it('distinguishes an empty list from a missing one, and duplicates from each other', () => {
    expect(diffManifests(manifest({ a: [] }), manifest({}))).toEqual([{ place: 'a', before: '[]' }])
    expect(diffManifests({ a: [1] }, { a: [1, 1] })).toEqual([{ place: 'a › 1 (2)', after: '1' }])
  })

  it('is not hidden by names that look like a path, a repetition or quotes', () => {
    const before = { 'a › b': 'safe', list: ['x'] }
    expect(diffManifests(before, { a: { b: 'not safe' }, ...before })).toEqual([{ place: 'a › b', after: 'not safe' }])
    const tools = [{ name: 't (2)', risk: 'low' }]
    const more = [{ name: 't', risk: 'low' }, { name: 't', risk: 'high' }, ...tools]
    expect(diffManifests({ tools }, { tools: more }).map(({ after }) => after)).toEqual(['t', 'low', 't', 'high'])
    expect(diffManifests({ limit: 1 }, { limit: '1' })).toEqual([{ place: 'limit', before: '1', after: '"1"' }])
  })
})
