// Lists and calls tools with Mastra, which is installed in the folder of this file: node mastra.mjs <url> <token> <calls>

import { MCPClient } from '@mastra/mcp'

const [url, token, calls] = process.argv.slice(2)
const client = new MCPClient({
  servers: { platform: { url: new URL(url), requestInit: { headers: { authorization: `Bearer ${token}` } } } },
})
try {
  const { platform: tools } = await client.listToolsets()
  const answers = {}
  for (const [name, given] of Object.entries(JSON.parse(calls))) {
    answers[name] = JSON.stringify(await tools[name].execute(given, {}))
  }
  console.log(JSON.stringify({ names: Object.keys(tools).sort(), answers }))
} finally {
  await client.disconnect()
}
