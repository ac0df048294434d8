import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import software.amazon.event.ruler.Machine;

/** Reads a pattern with its events on each line, and writes what Event Ruler says: which events match, or why it refuses the pattern. */
class Answers {
  public static void main(String[] args) throws Exception {
    var json = new ObjectMapper();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = input.readLine()) != null; ) {
      var given = (ObjectNode) json.readTree(line);
      var machine = new Machine();
      ObjectNode answer = json.createObjectNode();
      try {
        machine.addRule("rule", given.get("pattern").toString());
        var matches = answer.putArray("matches");
        for (JsonNode event : given.get("events")) matches.add(!machine.rulesForJSONEvent(event.toString()).isEmpty());
      } catch (Exception refusal) {
        answer = json.createObjectNode().put("refused", String.valueOf(refusal.getMessage()).lines().findFirst().orElse(""));
      }
      System.out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
    }
    System.out.flush();
  }
}
