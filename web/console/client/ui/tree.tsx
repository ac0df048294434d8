import { visible } from '../../../session/text.ts'
import { Json, Prose } from '../../../ui/text.tsx'
import { type Exact, parseExact } from './exact-json.ts'

/** A JSON value as nested tables, in full and with invisible characters escaped. */
export const Tree = ({ value }: { value: Exact }) => {
  if (value.kind === 'text') return <span class="exact">{visible(value.text) || <i class="soft">empty</i>}</span>
  if (value.kind === 'plain') return <code>{value.text}</code>
  const parts =
    value.kind === 'list' ? value.items.map((item, i) => ({ name: String(i + 1), value: item })) : value.entries
  if (parts.length === 0) return <span class="soft">{value.kind === 'list' ? 'Empty list' : 'Empty'}</span>
  return (
    <dl class="tree">
      {parts.map((part, i) => (
        <div key={i} class={part.value.kind === 'text' || part.value.kind === 'plain' ? undefined : 'deep'}>
          <dt>{visible(part.name)}</dt>
          <dd>
            <Tree value={part.value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** An object that an agent was given or answered with: text as text, anything else as a tree. */
export const Value = ({ value, label }: { value: Record<string, unknown>; label: string }) => {
  const [[name, text] = [], ...others] = Object.entries(value)
  if (name === 'text' && typeof text === 'string' && others.length === 0) return <Prose text={text} />
  const tree = parseExact(JSON.stringify(value))
  return tree ? <Tree value={tree} /> : <Json label={label} value={value} />
}
