import { Component, type ComponentChildren, createElement } from 'preact'
import { useScript } from './script.ts'
import type { Unshown as Shown } from './unshown.tsx'

const load = () => import('./unshown.tsx')

/** Replacement of children that threw. Its script is loaded on the first error. */
const Unshown = (properties: Parameters<typeof Shown>[0]) => {
  const { script } = useScript(load)
  return script ? createElement(script.Unshown, properties) : null
}

interface Properties extends Pick<Parameters<typeof Shown>[0], 'kind' | 'text'> {
  /** Value that the children show. After an error, they are rendered again once it changes. */
  about: unknown
  children: ComponentChildren
}

/** Replaces children that throw while they render, so that the rest of the page stays. */
export class Boundary extends Component<Properties, { failed?: unknown[] | undefined }> {
  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ failed: [this.props.about] })
  }

  override render({ about, kind, text, children }: Properties): ComponentChildren {
    const { failed } = this.state
    if (failed?.[0] !== about || !failed) return children
    return <Unshown kind={kind} text={text} retry={() => this.setState({ failed: undefined })} />
  }
}
