package turn

import (
	"fmt"

	"hitchpost/turn/model"
)

// resolve finds the provider of provider/model. An *InvalidError says what is wrong.
func (c *Config) resolve(spec string) (model.Client, string, error) {
	provider, name, ok := splitSpec(spec)
	if !ok {
		return nil, "", &InvalidError{fmt.Sprintf("model %q is not of the form provider/model", spec)}
	}
	client, ok := c.Providers[provider]
	if !ok {
		return nil, "", &InvalidError{fmt.Sprintf("no provider %q (%s)", provider, known(c.Providers))}
	}
	return client, name, nil
}

// floor is the allow list of an agent whose session has none of its own.
func (c *Config) floor(def string) []string {
	if d, ok := c.Agents[def]; ok && d.Policy != nil {
		return d.Policy
	}
	harmless, tools := []string{}, c.Tools()
	for _, name := range tools.Names() {
		if t, _ := tools.Lookup(name); !t.Mutating {
			harmless = append(harmless, name)
		}
	}
	return harmless
}

func (c *Config) tooManySteps() string {
	return fmt.Sprintf("the turn asked for more than %d steps (max_steps)", c.MaxSteps)
}
