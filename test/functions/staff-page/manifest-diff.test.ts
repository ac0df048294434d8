import { describe, expect, it } from 'vitest'
import { differences } from '#web/admin/client/manifest-diff.ts'

const manifest = (fields: object) => ({ id: 'vendor.agent', version: '1.0.0', ...fields })

describe('what a version changes', () => {
  it('is nothing for the same manifest, in whatever order it is written', () => {
    expect(differences(manifest({ tools: [] }), { tools: [], ...manifest({}) })).toEqual([])
  })

  it('names each value that came, went or became another', () => {
    const before = manifest({ summary: 'Old', runtime: { type: 'webhook', endpoint: 'https://a.example.com' } })
    const after = manifest({ name: 'New', runtime: { type: 'webhook', endpoint: 'https://b.example.com' } })
    expect(differences(before, after)).toEqual([
      { place: 'name', after: 'New' },
      { place: 'runtime › endpoint', before: 'https://a.example.com', after: 'https://b.example.com' },
      { place: 'summary', before: 'Old' },
    ])
  })

  it('shows a scope that was added to the front as that one scope', () => {
    expect(differences({ scopes: ['runs:write'] }, { scopes: ['tools:invoke', 'runs:write'] })).toEqual([
      { place: 'scopes › "tools:invoke"', after: 'tools:invoke' },
    ])
  })

  it('knows tools by their names, wherever they stand', () => {
    const [search, send] = [
      { name: 'search', description: 'Searches.' },
      { name: 'send', description: 'Sends.' },
    ]
    expect(differences({ tools: [search, send] }, { tools: [send, { ...search, description: 'Finds.' }] })).toEqual([
      { place: 'tools › search › description', before: 'Searches.', after: 'Finds.' },
    ])
  })

  it('tells an empty list from none, and two of a kind apart', () => {
    expect(differences(manifest({ a: [] }), manifest({}))).toEqual([{ place: 'a', before: '[]' }])
    expect(differences({ a: [1] }, { a: [1, 1] })).toEqual([{ place: 'a › 1 (2)', after: '1' }])
  })

  it('is hidden by no name that looks like a way, or like a repetition, and by no quotes', () => {
    const before = { 'a › b': 'safe', list: ['x'] }
    expect(differences(before, { a: { b: 'not safe' }, ...before })).toEqual([{ place: 'a › b', after: 'not safe' }])
    const tools = [{ name: 't (2)', risk: 'low' }]
    const more = [{ name: 't', risk: 'low' }, { name: 't', risk: 'high' }, ...tools]
    expect(differences({ tools }, { tools: more }).map(({ after }) => after)).toEqual(['t', 'low', 't', 'high'])
    expect(differences({ limit: 1 }, { limit: '1' })).toEqual([{ place: 'limit', before: '1', after: '"1"' }])
  })
})
