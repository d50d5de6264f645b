
BprobabilitiesJ(ÔnÏ<ˆ§=Ï~{=	ôö<ş‰<•}<Rº<(G<¼¿7?T\†<