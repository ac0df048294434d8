/**
 * Strongly connected components (R. Tarjan, 1972), without recursion so that large graphs cannot exhaust the stack.
 *
 * @param size nodes are 0 … size − 1
 * @returns for each node its component; components are numbered so that an edge never leads to a higher number.
 */
export const componentsOf = (size: number, next: (node: number) => readonly number[]): Int32Array => {
  const component = new Int32Array(size).fill(-1)
  const order = new Int32Array(size).fill(-1)
  const low = new Int32Array(size)
  const pending: number[] = []
  let visited = 0
  let found = 0

  const visit = (root: number): void => {
    const path: { node: number; targets: readonly number[]; at: number }[] = []
    const enter = (node: number): void => {
      order[node] = low[node] = visited++
      pending.push(node)
      path.push({ node, targets: next(node), at: 0 })
    }
    enter(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top
      const target = top.targets[top.at++]
      if (target === undefined) {
        path.pop()
        const parent = path.at(-1)
        if (parent !== undefined) low[parent.node] = Math.min(low[parent.node] ?? 0, low[node] ?? 0)
        if (low[node] === order[node]) {
          for (let member = pending.pop(); member !== undefined; member = pending.pop()) {
            component[member] = found
            if (member === node) break
          }
          found += 1
        }
      } else if (order[target] === -1) enter(target)
      else if (component[target] === -1) low[node] = Math.min(low[node] ?? 0, order[target] ?? 0)
    }
  }

  for (let node = 0; node < size; node += 1) if (order[node] === -1) visit(node)
  return component
}
